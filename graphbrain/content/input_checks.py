"""Checks of all caller input for types, ranges and lengths, item by item, before any transaction.

The database accepts integers of 64 bits, text without lone surrogates, and index entries of some kilobytes. Other
values would fail in a transaction with the whole batch, or in a later call of another caller. A bad value that a page
does not need, such as a validator that is too long, is left out. All other bad values are refused, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from itertools import accumulate
from numbers import Integral
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.model import FAULTS, RESOURCE_KEY, Claim, Failed, Fetched, Report, number
from graphbrain.base.urls.masking import masked
from graphbrain.base.urls.normalization import is_key

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
"""Characters of a name that callers give: of a worker, an agent, a token."""
RANGES = {
    "fetched_at": (0.0, 1e11),
    "status": (100, 999),
    "seconds": (0.0, 1e6),
    "retry_after": (0.0, 1e9),
    "relevance": (0.0, 1.0),
    "simhash": (1 - 2**64, 2**64 - 1),
    "value": (0.0, 1e12),
    "size": (0, 2**53),
    "words": (0, 2**53),
}
"""The least and greatest numbers in a report."""
LONGEST_VALIDATOR = 1_000
"""Characters of an ETag or a date. A longer one is not kept, and the page is fetched without it."""
LONGEST_HASH = 128
"""Characters of a hash that is kept as it is. A longer one is hashed."""
LONGEST = {"blocks": 2_000_000, "shingles": 2_000, "parts": 100}
"""Characters of what graphbrain makes of a body that was hashed elsewhere: the blocks of a text, some 300,000; its
shingles; and the hashes of other parts."""
LONGEST_ERROR = 200
LISTS = {
    "led_to": (5, 2_000),
    "canonicals": (5, 2_000),
    "titles": (5, 310),
    "descriptions": (5, 500),
    "h1": (5, 300),
    "hreflang": (100, 2_000),
    "requisites": (1_000, 1_200),
    "structured": (20, 120),
}
"""The fields that are lists of texts: the most items that are kept, and the most characters of each."""
UNKNOWN = frozenset({"descriptions", "h1"})
"""The lists that are None if they are not known; an empty one is a fault of the page."""
LONGEST_LIST = 16_000
"""The most characters that are kept of a list."""
LONGEST_FACTS = {"title": 300, "canonical": 2_000, "language": 35}
"""Characters of texts that are kept for later questions."""
LONGEST_TYPE = 1_000
_RESOURCE = re.compile(RESOURCE_KEY)
"""The key of a robots.txt."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TEXTS = ("body_hash", "text_hash", "content_type", "etag", "last_modified", "redirected_to", "error")


def checked(report: Report) -> Report:
    """Return the report with plain values that can be stored.

    Raises:
        BadInput: A value cannot be used; the message has the reason.
    """
    if not isinstance(report.url, str):
        raise BadInput(f"a URL must be text, not {type(report.url).__name__}")
    # Check each field, and collect the values that differ from those in the report.
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
    # Check the measures and answers of the crawler.
    if report.relevance is not None:
        _put(plain, "relevance", report.relevance, share("relevance", report.relevance))
    if report.value is not None:
        _put(plain, "value", report.value, worth("value", report.value))
    _word("changed", report.changed)
    _word("not_modified", report.not_modified)
    if report.not_modified is None:
        plain["not_modified"] = False
    _facts(report, plain)
    # Check the fingerprints that the crawler computed itself.
    simhash = report.simhash
    if simhash is not None:
        if isinstance(simhash, bool) or not isinstance(simhash, Integral) or int(simhash).bit_length() > 64:
            raise BadInput(f"simhash must be a whole number of 64 bits, not {simhash!r:.80}")
        _put(plain, "simhash", simhash, int(simhash))
    for name, most in LONGEST.items():
        if (sent := getattr(report, name)) is not None:
            text = words(name, sent)
            if len(text) > most:
                raise BadInput(f"{name} must have at most {most:,} characters, not {len(text):,}")
            _put(plain, name, sent, text)
    if isinstance(report.links, str | bytes) or not isinstance(report.links, Iterable):
        raise BadInput("links must be a list of URLs or Links")


def _facts(report: Fetched, plain: dict[str, Any]) -> None:
    """Add the facts that a page states about itself. A text that is too long is cut; only a wrong type is refused."""
    _word("noindex", report.noindex)
    _word("nofollow", report.nofollow)
    _word("password_field", report.password_field)
    for name in LISTS:
        listed = getattr(report, name)
        if listed is None and name not in UNKNOWN:
            plain[name] = ()
        elif listed is not None and listed != ():
            plain[name] = _list(name, listed)
    for name, longest in LONGEST_FACTS.items():
        if (text := getattr(report, name)) is not None:
            _put(plain, name, text, " ".join(words(name, text)[: 4 * longest].split())[:longest])
    for name, unit in (("size", "bytes"), ("words", "words")):
        if (number_of := getattr(report, name)) is None:
            continue
        least, most = RANGES[name]
        if isinstance(number_of, bool) or not isinstance(number_of, Integral) or not least <= int(number_of) <= most:
            raise BadInput(f"{name} must be a whole number of {unit}, not {number_of!r:.80}")
        _put(plain, name, number_of, int(number_of))


def _list(name: str, texts: object) -> tuple[str, ...]:
    """Return the texts of a list, cut to what is kept. Of a long chain of redirects, the last URL is kept, too.

    Raises:
        BadInput: The value is no list.
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise BadInput(f"{name} must be a list of texts, not {texts!r:.80}")
    most, longest = LISTS[name]
    kept = [words(name, text)[:longest] for text in texts if text]
    if len(kept) > most:
        kept = [*kept[: most - 1], kept[-1] if name == "led_to" else kept[most - 1]]
    sizes = accumulate(len(text) for text in kept)
    return tuple(text for text, size in zip(kept, sizes, strict=True) if size <= LONGEST_LIST)


def words(name: str, text: object) -> str:
    """Return a text of a page, empty for None. Characters that cannot be sent are replaced.

    Raises:
        BadInput: The value is no text.
    """
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
    if not (is_key(claim.key) or _RESOURCE.fullmatch(str(claim.key))):
        raise BadInput("the claim has no key")


def usable(claim: object) -> bool:
    """Return True if a value is a claim that can hold a page."""
    try:
        _claim(claim)
    except BadInput:
        return False
    return claim is not None


def claim_of(report: object) -> Claim | None:
    """Return the claim of a refused report, if it is one that can hold a page."""
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
        # Validators and hashes that do not fit are dropped; the content type and the error are shortened.
        kept: str | None = str.__str__(text)  # the driver sends only exact str, no subclass of it
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
    """Return the text, or the hash of a long one. Cut texts with the same beginning would be equal."""
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
    if type(value) is not (int if whole else float):  # types other than Python's own, such as numpy's, are accepted
        plain[name] = int(value) if whole else float(value)


def _word(name: str, value: object) -> None:
    if value is not None and not isinstance(value, bool):
        raise BadInput(f"{name} must be true, false or nothing, not {value!r:.80}")


def share(name: str, value: object) -> float:
    """Return a number from 0 to 1 as a float.

    Raises:
        BadInput: The value is no such number.
    """
    if not number(value) or not 0 <= value <= 1:
        raise BadInput(f"{name} must be from 0 to 1, not {value!r:.80}")
    return float(value)


def worth(name: str, value: object) -> float:
    """Return the crawler's value of a page, on the crawler's scale, as a float.

    Raises:
        BadInput: The value is no number of the allowed range.
    """
    least, most = RANGES["value"]
    if not number(value) or not least <= value <= most:
        raise BadInput(f"{name} must be from {least:g} to {most:g}, not {value!r:.80}")
    return float(value)


def address(text: object) -> str | None:
    """Return an IP address in its usual spelling, without a zone. A zone has a meaning on one machine only.

    Raises:
        BadInput: The text is no address.
    """
    if text is None:
        return None
    try:
        if isinstance(text, str) and len(text) <= LONGEST_NAME:
            parsed = ip_address(text.strip())
            if isinstance(parsed, IPv6Address):
                parsed = parsed.ipv4_mapped or IPv6Address(int(parsed))
            return str(parsed)
    except ValueError:
        pass
    raise BadInput(f"address must be an IP address, as in '192.0.2.1', not {text!r:.80}")


def sendable(text: str) -> bool:
    """Return False for a text with lone surrogates, which cannot be sent to the server."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def name(what: str, text: object) -> str:
    """Return a name that a caller gives, such as a worker's.

    Raises:
        BadInput: The value cannot be a name.
    """
    if not isinstance(text, str) or not text.strip() or not sendable(text) or not text.isprintable():
        raise BadInput(f"{what} must be a name, not {text!r:.80}.")
    if len(text) > LONGEST_NAME:
        raise BadInput(f"{what} must be a name of at most {LONGEST_NAME} characters, not of {len(text):,}.")
    return str.__str__(text)


def shown(thing: object) -> str:
    """Return the refused value for an answer: short, and without characters that cannot be printed or sent."""
    try:
        return masked(str(thing))[:200].encode("utf-8", "replace").decode()
    except Exception as error:  # noqa: BLE001  # the caller's own class
        return f"{type(thing).__name__} that cannot be shown ({type(error).__name__})"
