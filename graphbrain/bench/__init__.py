"""Measuring and breaking: benchmarks, precision, processes that are killed amid their work, worlds of ill servers,
and sites that are traps.

May touch: everything below. Nothing below may know it.
"""

__all__ = [
    "changes",
    "chaos",
    "compare",
    "crawl",
    "many",
    "order",
    "plots",
    "precision",
    "precision_plot",
    "traps",
    "worlds",
]
