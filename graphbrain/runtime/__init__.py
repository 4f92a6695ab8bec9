"""This process: its memory, its installation, turns between callers, durations, and tokens of its actions.

May touch: the operating system, the list of installed packages, and Python's import of modules.
"""

__all__ = ["deprecated", "fair", "installs", "lean_driver", "memory", "timings", "tokens"]
