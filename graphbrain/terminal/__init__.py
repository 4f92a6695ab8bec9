"""Output for people: tables, sheets of figures, and progress.

May touch: stdout, stderr, and the clock of this process for progress.
"""

__all__ = [
    "show",
    "tables",
]
