"""Walls: logins and consent pages to which temporary redirects lead many pages of a host."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from urllib.parse import unquote, urlsplit

from graphbrain.base.urls.normalization import host_of

__all__ = ["ASKED", "MANY", "bare", "destination", "place_of"]

MANY = 5
"""A URL is a wall if the last visits of at least so many pages of a host were redirected to it."""
ASKED = "is that a login or a consent page?"
"""The question in the answer to a visit that was redirected to a wall."""


def place_of(url: str, led_to: Sequence[str]) -> str | None:
    """Return a text that identifies the target of a visit's redirects, for the host of the page.

    None if the redirects lead back to the page itself.
    """
    target = bare(led_to[-1])
    if target == bare(url):
        return None
    return f"{host_of(url)} {blake2b(target.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def destination(url: str, target: str) -> str:
    """Return the target of a redirect of this URL, without a query and fragment that name the URL again. So many pages
    that lead to one login have one destination."""
    return bare(target) if urlsplit(url).path in unquote(target[len(bare(target)) :]) else target


def bare(url: str) -> str:
    """Return a URL without its query and fragment: the query often contains the URL that redirected to it."""
    return url.partition("#")[0].partition("?")[0]
