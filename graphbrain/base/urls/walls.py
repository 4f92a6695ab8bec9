"""A wall: a login or a consent page to which temporary redirects lead many pages of a host."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from graphbrain.base.urls.normalization import host_of

__all__ = ["ASKED", "MANY", "bare", "place_of"]

MANY = 5
"""The least number of pages of a host whose last visits were led to one place for it to be taken for a wall."""
ASKED = "is that a login or a consent page?"
"""The question in the answer to a visit that has met a wall."""


def place_of(url: str, led_to: Sequence[str]) -> str | None:
    """Return the host of a page and the short target of its visit, or None if the target is the page itself."""
    end = bare(led_to[-1])
    if end == bare(url):
        return None
    return f"{host_of(url)} {blake2b(end.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def bare(url: str) -> str:
    """Return the URL without its query, which often contains the origin of the redirect."""
    return url.partition("#")[0].partition("?")[0]
