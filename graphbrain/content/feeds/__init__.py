"""Sitemaps, feeds and lists of URLs, read from bytes.

May touch: nothing; pure functions of bytes and text.
"""

from __future__ import annotations

__all__ = ["reading"]
