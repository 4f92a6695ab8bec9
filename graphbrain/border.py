"""The border: what callers hand in, checked item by item for types, ranges and lengths before any transaction.

The database takes whole numbers of 64 bits, text without lone surrogates, and index entries of some kilobytes. What is
none of that would fail in a transaction, and take the batch with it, or a later call of somebody else. What a page is
as well without is left out (a validator that no server would know again); all else is refused, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from numbers import Integral
from typing import Any

from graphbrain.errors import BadInput
from graphbrain.masking import masked
from graphbrain.model import FAULTS, ROBOTS_KEY, Claim, Failed, Fetched, Report, number
from graphbrain.url import is_key

__all__ = [
    "LONGEST_NAME",
    "RANGES",
    "address",
    "checked",
    "claim_of",
    "name",
    "sendable",
    "share",
    "shown",
    "usable",
    "words",
    "worth",
]

LONGEST_NAME = 200
"""Characters of a name that callers give: a worker's, an agent's, a token."""
RANGES = {
    "fetched_at": (0.0, 1e11),
    "status": (100, 999),
    "seconds": (0.0, 1e6),
    "retry_after": (0.0, 1e9),
    "relevance": (0.0, 1.0),
    "simhash": (1 - 2**64, 2**64 - 1),
    "value": (0.0, 1e12),
    "size": (0, 2**53),
}
"""Least and most of the numbers of a report."""
LONGEST_VALIDATOR = 1_000
"""Characters of an ETag or a date. What is longer is not kept: the page is fetched without it."""
LONGEST_HASH = 128
"""Characters of a hash that is kept as it is: of a longer one, the hash."""
LONGEST_BLOCKS = 2_000_000
"""Characters of the blocks of a text: some 300,000 blocks."""
LONGEST_SHINGLES = 2_000
"""Characters of the sketch of a text, which has fewer."""
LONGEST_ERROR = 200
MOST_LED, LONGEST_URL = 5, 2_000
"""URLs of a chain of redirects that are kept, and characters of each."""
LONGEST_FACTS = {"title": 300, "canonical": 2_000, "language": 35}
"""Characters of texts that are kept for those who ask later."""
LONGEST_TYPE = 1_000
_ROBOTS = re.compile(rf"{ROBOTS_KEY}https?://[!-~]{{1,300}}")
"""The key of a robots.txt."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TEXTS = ("body_hash", "text_hash", "content_type", "etag", "last_modified", "redirected_to", "error")


def checked(report: Report) -> Report:
    """The report with plain values that can be stored. Raises BadInput with what is wrong."""
    if not isinstance(report.url, str):
        raise BadInput(f"a URL must be text, not {type(report.url).__name__}")
    plain: dict[str, Any] = {}
    _claim(report.claim)
    _texts(report, plain)
    _number(report, "fetched_at", *RANGES["fetched_at"], plain)
    _number(report, "status", *RANGES["status"], plain)
    _number(report, "seconds", *RANGES["seconds"], plain)
    if report.body is not None and not isinstance(report.body, bytes | bytearray | memoryview):
        raise BadInput(f"body must be bytes, not {type(report.body).__name__}")
    if isinstance(report, Failed):
        _number(report, "retry_after", *RANGES["retry_after"], plain)
        if report.fault is not None and report.fault not in FAULTS:
            raise BadInput(f"fault must be {', '.join(FAULTS)} or None, not {report.fault!r:.80}")
    else:
        _fetched(report, plain)
    return replace(report, **plain) if plain else report


def _fetched(report: Fetched, plain: dict[str, Any]) -> None:
    if report.relevance is not None:
        _put(plain, "relevance", report.relevance, share("relevance", report.relevance))
    if report.value is not None:
        _put(plain, "value", report.value, worth("value", report.value))
    _word("changed", report.changed)
    _word("not_modified", report.not_modified)
    if report.not_modified is None:
        plain["not_modified"] = False
    _facts(report, plain)
    if not isinstance(report.led_to, tuple) or report.led_to:
        plain["led_to"] = _chain(report.led_to)
    simhash = report.simhash
    if simhash is not None:
        if isinstance(simhash, bool) or not isinstance(simhash, Integral) or int(simhash).bit_length() > 64:
            raise BadInput(f"simhash must be a whole number of 64 bits, not {simhash!r:.80}")
        _put(plain, "simhash", simhash, int(simhash))
    if report.blocks is not None:
        blocks = words("blocks", report.blocks)
        if len(blocks) > LONGEST_BLOCKS:
            raise BadInput(f"blocks must have at most {LONGEST_BLOCKS:,} characters, not {len(blocks):,}")
        _put(plain, "blocks", report.blocks, blocks)
    if report.shingles is not None:
        shingles = words("shingles", report.shingles)
        if len(shingles) > LONGEST_SHINGLES:
            raise BadInput(f"shingles must have at most {LONGEST_SHINGLES:,} characters, not {len(shingles):,}")
        _put(plain, "shingles", report.shingles, shingles)
    if isinstance(report.links, str | bytes) or not isinstance(report.links, Iterable):
        raise BadInput("links must be a list of URLs or Links")


def _facts(report: Fetched, plain: dict[str, Any]) -> None:
    """What a page says of itself is no reason to refuse its visit: only a value of another kind is."""
    _word("noindex", report.noindex)
    for name, longest in LONGEST_FACTS.items():
        if (text := getattr(report, name)) is not None:
            _put(plain, name, text, " ".join(words(name, text)[: 4 * longest].split())[:longest])
    size = report.size
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, Integral) or not 0 <= size <= RANGES["size"][1]:
            raise BadInput(f"size must be a whole number of bytes, not {size!r:.80}")
        _put(plain, "size", size, int(size))


def _chain(led_to: object) -> tuple[str, ...]:
    """The URLs that a redirect led through: the first ones, and the last. Raises BadInput for what is no list."""
    if led_to is None:
        return ()
    if isinstance(led_to, str | bytes) or not isinstance(led_to, Iterable):
        raise BadInput(f"led_to must be a list of URLs, not {led_to!r:.80}")
    urls = [words("led_to", url)[:LONGEST_URL] for url in led_to if url]
    return tuple([*urls[: MOST_LED - 1], *urls[-1:]] if len(urls) > MOST_LED else urls)


def words(name: str, text: object) -> str:
    """A text that a page has said, with what cannot be sent replaced; none for None. Raises BadInput for what is no
    text."""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise BadInput(f"{name} must be text, not {text!r:.80}")
    return str.__str__(text) if sendable(text) else text.encode("utf-8", "replace").decode("utf-8")


def _claim(claim: object) -> None:
    if claim is None:
        return
    if not isinstance(claim, Claim):
        raise BadInput(f"claim must be a Claim, not {type(claim).__name__}")
    if not isinstance(claim.token, str) or not 0 < len(claim.token) <= LONGEST_NAME or not sendable(claim.token):
        raise BadInput("the claim has no token")
    if not (is_key(claim.key) or _ROBOTS.fullmatch(str(claim.key))):
        raise BadInput("the claim has no key")


def usable(claim: object) -> bool:
    """Is it a claim that a page could be held by?"""
    try:
        _claim(claim)
    except BadInput:
        return False
    return claim is not None


def claim_of(report: object) -> Claim | None:
    """The claim of a report that was refused, if it is one that a page could be held by."""
    try:
        claim = getattr(report, "claim", None)
    except Exception:  # noqa: BLE001  # the caller's own class
        return None
    return claim if usable(claim) else None


def _texts(report: Report, plain: dict[str, Any]) -> None:
    for name in _TEXTS:
        text = getattr(report, name, None)
        if text is None:
            continue
        if not isinstance(text, str) or not sendable(text):
            raise BadInput(f"{name} must be text, not {text!r:.80}")
        kept: str | None = str.__str__(text)  # text of a class of its own is not sent as text
        if name in ("etag", "last_modified"):
            kept = None if not text or len(text) > LONGEST_VALIDATOR or _CONTROL.search(text) else kept
        elif name in ("body_hash", "text_hash"):
            kept = _short_hash(text) or None
        elif name == "content_type":
            kept = text[:LONGEST_TYPE]
        elif name == "error":
            kept = text[:LONGEST_ERROR]
        _put(plain, name, text, kept)


def _short_hash(text: str) -> str:
    """Were it cut off, texts that begin alike would be the same."""
    if len(text) <= LONGEST_HASH:
        return str.__str__(text)
    return blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


def _put(plain: dict[str, Any], name: str, given: object, kept: object) -> None:
    if kept is not given:
        plain[name] = kept


def _number(report: Report, name: str, least: float, most: float, plain: dict[str, Any]) -> None:
    value = getattr(report, name)
    if value is None or (type(value) is float and name != "status" and least <= value <= most):
        return
    if not number(value) or not least <= value <= most or (name == "status" and value != int(value)):
        kind = "a whole number" if name == "status" else "a number"
        raise BadInput(f"{name} must be {kind} from {least:g} to {most:g}, not {value!r:.80}")
    whole = name == "status" or isinstance(value, Integral)
    if type(value) is not (int if whole else float):  # others than Python's own, as numpy's, are let in
        plain[name] = int(value) if whole else float(value)


def _word(name: str, value: object) -> None:
    if value is not None and not isinstance(value, bool):
        raise BadInput(f"{name} must be true, false or nothing, not {value!r:.80}")


def share(name: str, value: object) -> float:
    """A number from 0 to 1, as a float. Raises BadInput."""
    if not number(value) or not 0 <= value <= 1:
        raise BadInput(f"{name} must be from 0 to 1, not {value!r:.80}")
    return float(value)


def worth(name: str, value: object) -> float:
    """What a page is worth to the crawler, on a scale of its own, as a float. Raises BadInput."""
    least, most = RANGES["value"]
    if not number(value) or not least <= value <= most:
        raise BadInput(f"{name} must be from {least:g} to {most:g}, not {value!r:.80}")
    return float(value)


def address(text: object) -> str | None:
    """An IP address in its usual spelling, without the zone that only its own machine knows. Raises BadInput."""
    if text is None:
        return None
    try:
        if isinstance(text, str) and len(text) <= LONGEST_NAME:
            known = ip_address(text.strip())
            if isinstance(known, IPv6Address):
                known = known.ipv4_mapped or IPv6Address(int(known))
            return str(known)
    except ValueError:
        pass
    raise BadInput(f"address must be an IP address, as in '192.0.2.1', not {text!r:.80}")


def sendable(text: str) -> bool:
    """No lone surrogates: they cannot be sent to the server."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def name(what: str, text: object) -> str:
    """A name that a caller gives, as of a worker. Raises BadInput for what can be none."""
    if not isinstance(text, str) or not text.strip() or not sendable(text) or not text.isprintable():
        raise BadInput(f"{what} must be a name, not {text!r:.80}.")
    if len(text) > LONGEST_NAME:
        raise BadInput(f"{what} must be a name of at most {LONGEST_NAME} characters, not of {len(text):,}.")
    return str.__str__(text)


def shown(thing: object) -> str:
    """What was refused, for an answer: short, and without what cannot be printed or sent on."""
    try:
        return masked(str(thing))[:200].encode("utf-8", "replace").decode()
    except Exception as error:  # noqa: BLE001  # the caller's own class
        return f"{type(thing).__name__} that cannot be shown ({type(error).__name__})"
