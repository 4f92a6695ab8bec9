"""This process: its memory, its installation, turns between callers, durations, tokens of its actions.

May touch: the operating system, the list of installed packages, and Python's import of modules.
"""

__all__ = ["fair", "installs", "lean_driver", "memory", "newest", "timings", "tokens"]
