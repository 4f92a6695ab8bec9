"""One spelling per page, and the host a page is polite to.

Canonical means w3lib's rules (sorted query, escaped path, lower-case host, no fragment), then ours: default ports
go, an empty path becomes `/`, and query arguments that only track a visitor go. Two URLs of one page then share
one `key`, the blake2b-128 of the canonical text: a URL can be longer than a Neo4j index key may be.
`RULES_VERSION` stands in the database; changing a rule changes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import urlsplit, urlunsplit

from w3lib.url import canonicalize_url, url_query_cleaner

from graphbrain.errors import BadInput

__all__ = ["LONGEST", "RULES_VERSION", "Rules", "host_of", "is_key", "key_of", "name_of", "spell"]

RULES_VERSION = 1
LONGEST = 8192
TRACKING = (
    *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id"),
    *("gclid", "fbclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid"),
    *("jsessionid", "phpsessid", "sessionid"),
)

# A URL that already is its own canonical form: nothing to lower, escape, sort or strip. It saves 40 µs each, and
# tests hold it against the slow way.
_PLAIN = re.compile(
    r"https?://(?!.*/\.{1,2}(?:/|\Z))[a-z0-9][a-z0-9.-]*[a-z0-9](?::(?!80/|443/)[1-9]\d{0,3})?/[A-Za-z0-9_.~/-]*\Z"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEFAULT_PORT = {"http": 80, "https": 443}


def key_of(url: str) -> str:
    """The 32 hex digits that name a canonical URL in the graph."""
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_key(text: object) -> bool:
    """Is it the key of a page?"""
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{32}", text) is not None


def host_of(url: str) -> str:
    """The host a canonical URL is polite to: its name, with the port where it is not the usual one."""
    netloc = url.split("/", 3)[2]
    return netloc.rsplit("@", 1)[-1]


def name_of(url: str) -> str:
    """A caption for Neo4j Browser: the host and the tail of the path."""
    host = host_of(url)
    tail = url.split("/", 3)[-1].rstrip("/").rsplit("/", 1)[-1]
    return f"{host}/{tail}"[:80] if tail else host[:80]


def spell(url: str, extra: Callable[[str], str] | None = None, drop: Iterable[str] = TRACKING) -> str:
    """The canonical spelling of `url`.

    `extra`: the user's own last step, canonical URL in, URL out. `drop`: query arguments to leave out.
    Raises BadInput with the reason when the URL cannot name a page.
    """
    if not isinstance(url, str):
        raise BadInput(f"a URL must be text, not {type(url).__name__}")
    if extra is None and len(url) <= LONGEST and _PLAIN.match(url):
        return url
    return _slowly(url, extra, tuple(drop))


def _slowly(url: str, extra: Callable[[str], str] | None, drop: tuple[str, ...]) -> str:
    text = url.strip(" \t\r\n")
    if _CONTROL.search(text):
        raise BadInput("the URL holds control characters")
    if len(text) > LONGEST:
        raise BadInput(f"the URL is longer than {LONGEST} characters")
    try:
        canonical = _canonical(text, drop)
        if extra is not None:
            canonical = _canonical(extra(canonical), ())
    except BadInput:
        raise
    except (ValueError, UnicodeError) as error:
        raise BadInput(f"the URL cannot be read ({error})") from None
    if len(canonical) > LONGEST:
        raise BadInput(f"the URL is longer than {LONGEST} characters once escaped")
    return canonical


def _canonical(text: str, drop: tuple[str, ...]) -> str:
    head = urlsplit(text)
    if head.scheme.lower() not in _DEFAULT_PORT:
        raise BadInput("the URL is not http or https")
    if not head.hostname:
        raise BadInput("the URL has no host")
    if drop and head.query:
        text = url_query_cleaner(text, drop, remove=True, unique=False)
    parts = urlsplit(canonicalize_url(text))
    if not parts.hostname:
        raise BadInput("the URL has no host")
    netloc = _host_text(parts.hostname)
    if parts.port is not None and parts.port != _DEFAULT_PORT[parts.scheme]:
        netloc = f"{netloc}:{parts.port}"
    if parts.username is not None:
        user = parts.netloc.rsplit("@", 1)[0]
        netloc = f"{user}@{netloc}"
    return urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))


def _host_text(host: str) -> str:
    host = host.rstrip(".").lower()
    if not host:
        raise BadInput("the URL has no host")
    if ":" in host:
        return f"[{host}]"
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    if any(c in host for c in " %<>\"'\\^`{|}"):
        raise BadInput("the URL's host is not a host name")
    return host


class Rules:
    """`spell` with one crawl's settings and a memory of what it has spelt before. Thread-safe."""

    def __init__(self, extra: Callable[[str], str] | None = None, drop: Iterable[str] = TRACKING) -> None:
        dropped = tuple(drop)

        @lru_cache(maxsize=200_000)
        def page(url: str) -> tuple[str, str]:
            spelt = spell(url, extra, dropped)
            return spelt, key_of(spelt)

        self.page = page
        """URL as written → (canonical URL, key). Raises BadInput."""
