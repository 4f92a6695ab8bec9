"""The URL rules of brains made before: the one text that was key and address of a page, and its digest.

Version 1 of the rules: w3lib's canonical form (sorted query, escaped path, lower-case host, no fragment), then default
ports gone, `/` for an empty path, and query arguments that only track a visitor gone, by their exact names. Used only
where a brain was moved from there: notes, and pages forgotten for ever, of URLs that are no pages are found by these
keys, for of their URLs nothing else is known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from w3lib.url import canonicalize_url, url_query_cleaner

from graphbrain.urls.normalization import LONGEST, key_of

__all__ = ["VERSION", "old_keys", "spell"]

VERSION = 1
TRACKING = (
    *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id"),
    *("gclid", "fbclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid"),
    *("jsessionid", "phpsessid", "sessionid"),
)
_DEFAULT_PORT = {"http": 80, "https": 443}


def spell(url: str, extra: Callable[[str], str] | None = None) -> str | None:
    """The text by which a page of this URL was known; None where it could not be one.

    `extra`: the user's own last step, text in, URL out.
    """
    text = url.strip(" \t\r\n")
    if len(text) > LONGEST or any(c < " " or c == "\x7f" for c in text):
        return None
    try:
        canonical = _canonical(text, TRACKING)
        if extra is not None and canonical is not None:
            canonical = _canonical(extra(canonical), ())
    except Exception:  # noqa: BLE001  # w3lib, codecs and a user's function: whatever they raise, it was refused
        return None
    return canonical if canonical is not None and len(canonical) <= LONGEST else None


def old_keys(extra: Callable[[str], str] | None = None) -> Callable[[str], str | None]:
    """A function: URL → the key that its page had, None where it could have none. Thread-safe."""

    @lru_cache(maxsize=50_000)
    def key(url: str) -> str | None:
        text = spell(url, extra)
        return None if text is None else key_of(text)

    return key


def _canonical(text: str, drop: tuple[str, ...]) -> str | None:
    head = urlsplit(text)
    if head.scheme.lower() not in _DEFAULT_PORT or not head.hostname:
        return None
    if drop and head.query:
        text = url_query_cleaner(text, drop, remove=True, unique=False)
    parts = urlsplit(canonicalize_url(text))
    host = _host_text(parts.hostname or "")
    if host is None:
        return None
    netloc = host
    if parts.port is not None and parts.port != _DEFAULT_PORT[parts.scheme]:
        netloc = f"{netloc}:{parts.port}"
    if parts.username is not None:
        netloc = f"{parts.netloc.rsplit('@', 1)[0]}@{netloc}"
    return urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))


def _host_text(host: str) -> str | None:
    host = host.rstrip(".").lower()
    if ":" in host:
        return f"[{host}]"
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    return host if host and not any(c in host for c in " %<>\"'\\^`{|}") else None
