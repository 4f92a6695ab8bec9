"""Hints from files, for users: sitemaps, feeds and lists of URLs are read into what `Brain.hint` takes."""

from graphbrain.feeds.reading import LARGEST, Hints, moment, read, read_feed, read_lines, read_sitemap

__all__ = ["LARGEST", "Hints", "moment", "read", "read_feed", "read_lines", "read_sitemap"]
