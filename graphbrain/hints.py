"""Sitemaps, feeds and lists of URLs as hints of change, by the short name that users import.
`graphbrain.content.feeds.reading` has the code."""

from graphbrain.content.feeds.reading import LARGEST, Hints, moment, read, read_feed, read_lines, read_sitemap

__all__ = ["LARGEST", "Hints", "moment", "read", "read_feed", "read_lines", "read_sitemap"]
