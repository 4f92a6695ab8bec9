"""The resources of this process: memory, installed packages, turns between callers, durations, tokens of actions.

May touch: the operating system, the list of installed packages, and Python's import of modules.
"""

__all__ = ["fair", "installs", "lean_driver", "memory", "newest", "timings", "tokens"]
