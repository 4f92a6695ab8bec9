"""A wall: a login or a consent page to which temporary redirects lead many pages of a host."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from graphbrain.url import host_of

__all__ = ["ASKED", "MANY", "bare", "place_of"]

MANY = 5
"""Pages of a host, at least, whose last visits were led to one place, before that is taken for a wall."""
ASKED = "is that a login or a consent page?"
"""What the answer to a visit that has met one asks."""


def place_of(url: str, led_to: Sequence[str]) -> str | None:
    """The host of a page, and in short where its visit was led. None where that is the page itself."""
    end = bare(led_to[-1])
    if end == bare(url):
        return None
    return f"{host_of(url)} {blake2b(end.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def bare(url: str) -> str:
    """The URL without its query, which often says where a redirect came from."""
    return url.partition("#")[0].partition("?")[0]
