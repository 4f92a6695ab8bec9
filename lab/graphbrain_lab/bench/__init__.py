"""Benchmarks and attempts to break the brain: precision, killed processes, worlds of ill servers, sites with traps.

May touch: all other rooms below. No room below may import it.
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
    "scale",
    "traps",
    "trust",
    "worlds",
]
