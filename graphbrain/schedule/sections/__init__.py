"""The parts of a site that the crawl has learned: sections by the shape of URLs, and the yield of fetching them.

May touch: nothing; pure functions of numpy arrays and text.
"""

from __future__ import annotations

__all__ = ["copies", "harvest", "known", "shapes", "site", "tree"]
