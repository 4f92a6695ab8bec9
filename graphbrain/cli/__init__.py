"""The command line: one module for each group of commands; `commands` has the table of all.

`app` is what `graphbrain` and `python -m graphbrain` run.
May touch: everything.
"""

from graphbrain.cli.app import main

__all__ = [
    "common",
    "main",
    "sheets",
]
