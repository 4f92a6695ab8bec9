"""The command line: one module for each group of commands.

May touch: everything. `app` is what `graphbrain` and `python -m graphbrain` run.
"""

from graphbrain.cli.app import main

__all__ = ["common", "main", "sheets"]
