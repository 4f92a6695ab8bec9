"""The URL rules of brains made before: addresses as sites write them, with the user and the password in them.

Version 2 of the rules differs from today's in three things. A user and a password were a part of address and key. Tabs
and line ends in a URL were refused, and a backslash in a path was escaped, or refused in front of it. Fewer arguments
counted as tracking, and these by their whole names. Used only where a brain was moved from there, or is being moved:
what the two have in common is taken from `graphbrain.url`; a version 4 that changes that has to copy it here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from graphbrain.errors import BadInput
from graphbrain.urls import normalization as today
from graphbrain.urls.normalization import LONGEST, Dropped, key_of, normal

__all__ = ["DROPPED", "VERSION", "address", "form", "key", "old_keys"]

VERSION = 2
DROPPED = Dropped.of(
    (
        *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id"),
        *("gclid", "fbclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid"),
        *("jsessionid", "phpsessid", "sessionid", "cfid", "cftoken"),
    ),
    arrays=False,
)
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_USER_CHARACTERS = frozenset(_UNRESERVED + "!$&'()*+,;=:")
_NEVER = re.compile(r"[\x00-\x1f\x7f]")
_SPLIT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)([^?#]*)(.*)\Z", re.DOTALL)


def address(url: str, hash_bang: bool = False) -> str:
    """Return the address of a page by these rules. Raise BadInput where it could not be one."""
    text = url.strip(" \t\r\n")
    if _NEVER.search(text):
        raise BadInput("the URL holds control characters")
    parts = _SPLIT.match(text)
    if parts is None:
        return today.address(text, hash_bang)
    scheme, authority, path, tail = parts.groups()
    if "\\" in authority:
        raise BadInput("the URL holds a '\\' before its path")
    user = authority.rpartition("@")[0]
    written = today.address(f"{scheme}{authority}{path.replace(chr(92), '%5C')}{tail}", hash_bang)
    if user:
        start = written.index("://") + 3
        written = written[:start] + today.escaped(user, _USER_CHARACTERS) + "@" + written[start:]
    if len(written) > LONGEST:
        raise BadInput(f"the URL is longer than {LONGEST} characters once escaped")
    return written


def form(written: str, extra: Callable[[str], str] | None = None) -> str:
    """Return the normal form of an address by these rules. `extra`: the user's own last step. Raise BadInput."""
    plain = normal(written, None, DROPPED)
    if extra is None:
        return plain
    try:
        own = extra(plain)
        return plain if own == plain else normal(address(own, hash_bang=True), None, DROPPED)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"the crawler's own canonical step failed ({type(error).__name__})") from error


def key(written: str, extra: Callable[[str], str] | None = None) -> str | None:
    """The key that a page of this address had; None where it could have none."""
    try:
        return key_of(form(written, extra))
    except BadInput:
        return None


def old_keys(extra: Callable[[str], str] | None = None, hash_bang: bool = False) -> Callable[[str], str | None]:
    """A function: URL → the key that its page had, None where it could have none. Thread-safe."""

    @lru_cache(maxsize=50_000)
    def of(url: str) -> str | None:
        try:
            return key(address(url, hash_bang), extra)
        except BadInput:
            return None

    return of
