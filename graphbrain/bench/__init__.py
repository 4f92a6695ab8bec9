"""Measuring and breaking: benchmarks, precision, and processes that are killed amid their work.

May touch: everything below. Nothing below may know it.
"""

__all__ = ["changes", "chaos", "compare", "crawl", "order", "plots", "precision", "precision_plot"]
