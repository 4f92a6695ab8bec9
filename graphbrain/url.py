"""URLs, by the short name that users import: `graphbrain.url.spell`. The rules are in `graphbrain.urls`."""

from graphbrain.urls.normalization import host_of, spell

__all__ = ["host_of", "spell"]
