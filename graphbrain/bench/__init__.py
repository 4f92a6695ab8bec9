"""Measuring and breaking: benchmarks, precision, processes that are killed amid their work, and worlds of ill servers.

May touch: everything below. Nothing below may know it.
"""

__all__ = ["changes", "chaos", "compare", "crawl", "many", "order", "plots", "precision", "precision_plot", "worlds"]
