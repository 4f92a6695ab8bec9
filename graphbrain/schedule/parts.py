"""The parts of a page beside its text: which of them differ between two visits.

Of each part a page stores a hash of 24 bits, so that an edit of a part stays unseen once in 16 million times. All
hashes together have `SIZE` characters. A part that a visit does not show keeps its hash. Unlike in the text, no
difference is noise: a part counts only where the setting `change_in` names it.

Links are compared as a set of pages, since their order is that of the text. Images are their addresses and their
alternative texts, in their order. Structured data are JSON-LD, and `meta` elements with a property (Open Graph, RDFa)
or an item property (microdata). They are searched in the bytes, without a tree: see `fingerprints`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

from graphbrain.base.model import PARTS
from graphbrain.schedule.words import packed, unpacked

__all__ = ["IN_BODY", "SIZE", "changed", "following", "of_body", "read", "with_facts"]

VERSION = 1
"""The version of the hashes. Hashes of two versions are not compared."""
BESIDE = PARTS[1:]
"""The parts that have a hash, in the order of their hashes. Blocks and other hashes describe the text."""
IN_BODY = frozenset({"images", "structured_data"})
"""The parts that only the body of a page shows. Reports state the others."""
_BYTES = 3
_UNKNOWN = bytes(_BYTES)
SIZE = len(packed(_UNKNOWN * len(BESIDE), version=VERSION))
"""The characters that a page stores."""
_IMAGE = re.compile(rb"<img[\s/][^>]*>", re.IGNORECASE)
_SHOWN = re.compile(rb"""[\s"'/](?:data-)?((?:src|alt)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))""", re.IGNORECASE)
_DATA = re.compile(
    rb"""<meta\s(?=[^>]*\b(?:property|itemprop)\s*=)([^>]*)>"""
    rb"""|<script\s(?=[^>]*\bapplication/ld\+json\b)[^>]*>(.*?)</script""",
    re.IGNORECASE | re.DOTALL,
)


def of_body(body: bytes) -> str:
    """Return the hashes of the parts that the body of an HTML page shows: images and structured data."""
    images = _SHOWN.findall(b"".join(_IMAGE.findall(body)))
    data = [b" ".join(b" ".join(groups).split()) for groups in _DATA.findall(body)]
    return _text({"images": images, "structured_data": data})


def with_facts(
    parts: str | None, links: Iterable[str] | None, title: str | None, robots: Iterable[str] | None
) -> str | None:
    """Return the hashes with those of the parts that a report states; None if no part is known.

    Args:
        links: The keys of the pages to which it links; None if the report does not have all links.
        title: The title; empty for a page without one, None if the report has none of these facts.
        robots: The directives to search engines; None if the report has none of these facts.
    """
    stated: dict[str, Iterable[bytes]] = {}
    if links is not None:
        stated["links"] = [key.encode() for key in sorted(links)]
    if title is not None:
        stated["title"] = [title.encode("utf-8", "surrogatepass")]
    if robots is not None:
        stated["robots"] = [word.encode() for word in robots]
    return following(parts, _text(stated)) if stated else parts


def changed(old: str | None, new: str | None) -> tuple[str, ...]:
    """Return the names of the parts that both visits show and that differ."""
    pairs = zip(BESIDE, _hashes(old), _hashes(new), strict=True)
    return tuple(name for name, one, other in pairs if _UNKNOWN not in (one, other) and one != other)


def following(old: str | None, new: str | None) -> str | None:
    """Return the hashes that a page stores after a visit: those of the visit, and the stored ones of other parts."""
    if old is None or new is None:
        return old or new
    both = zip(_hashes(old), _hashes(new), strict=True)
    return packed(b"".join(one if other == _UNKNOWN else other for one, other in both), version=VERSION)


def read(text: str) -> list[bytes]:
    """Return the hashes, in the order of `BESIDE`; zeros for a part that is not known, and for hashes of another
    version. Raises ValueError for any other text."""
    version, data = unpacked(text)
    if version != VERSION:
        return [_UNKNOWN] * len(BESIDE)
    if len(data) != _BYTES * len(BESIDE):
        raise ValueError(f"it has {len(data)} bytes")
    return [data[at : at + _BYTES] for at in range(0, len(data), _BYTES)]


def _hashes(text: str | None) -> list[bytes]:
    return [_UNKNOWN] * len(BESIDE) if text is None else read(text)


def _text(contents: dict[str, Iterable[bytes]]) -> str:
    return packed(b"".join(_hash(contents[name]) if name in contents else _UNKNOWN for name in BESIDE), version=VERSION)


def _hash(contents: Iterable[bytes]) -> bytes:
    digest = blake2b(b"\0".join(contents), digest_size=_BYTES).digest()
    return digest if digest != _UNKNOWN else b"\0\0\1"
