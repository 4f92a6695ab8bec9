"""What the crawl has learned of the parts of a site: sections by the shape of URLs, and what fetching them brings.

May touch: nothing; pure functions of numpy arrays and text.
"""

from __future__ import annotations

__all__ = ["copies", "harvest", "known", "shapes", "site", "tree"]
