"""Values as JSON and back: reports as the service reads them, and its answers as the types of `graphbrain.model`."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphbrain.base import errors
from graphbrain.base.errors import GraphbrainError, ServiceRefused, ServiceUnavailable
from graphbrain.base.model import (
    Answer,
    AnyReport,
    Claim,
    Claims,
    Failed,
    Fetched,
    Hint,
    Page,
    Payment,
    Payments,
    Resource,
    SeedAnswer,
    Unusable,
)
from graphbrain.base.numeric.methods import SCORES
from graphbrain.base.records import Asked, ExpectedCopy, PageSection
from graphbrain.base.work import Audit, Ranking

__all__ = [
    "answer",
    "asked",
    "audit",
    "claim",
    "claims",
    "dumps",
    "error_of",
    "hint",
    "kinds",
    "page",
    "parts",
    "payments",
    "ranking",
    "report",
    "seed_answer",
]

_DEFAULTS = {
    kind: {
        field.name: field.default for field in dataclasses.fields(kind) if field.name not in ("url", "links", "claim")
    }
    for kind in (Fetched, Failed)
}
PACKED_FROM, GZIP = 65_536, b"\x1f\x8b"
MOST_ITEMS, MOST_BYTES = 1_000, 8 * 2**20
"""The items and bytes of one request: a service's limit of items by default, and half of its limit of bytes."""


def report(item: AnyReport | Any, now: float) -> dict[str, Any]:
    """A report as the service reads it. What is none of these, or holds what it should not, is refused there."""
    if isinstance(item, Unusable):
        return {"url": item.url, "claim": _claim(item.claim), "unusable": item.reason}
    if isinstance(item, Resource):
        item = item.as_report()
    if not isinstance(item, Fetched | Failed):
        return {"url": str(item)[:200], "unusable": type(item).__name__}
    body: dict[str, Any] = {"url": item.url}
    for name, default in _DEFAULTS[type(item)].items():
        value = getattr(item, name)
        if value is not default and value != default:
            body[name] = value
    if item.claim is not None:
        body["claim"] = _claim(item.claim)
    elif item.fetched_at is None:
        body["fetched_at"] = now  # a repeated report is the same visit
    if isinstance(item.body, bytes | bytearray | memoryview):
        body |= _body(_packed(bytes(item.body), item.claim))
    if isinstance(item, Failed):
        return {**body, "failed": True}
    body["links"] = item.links if isinstance(item.links, str) else [_link(link) for link in item.links]
    return body


def _claim(claim: Claim | Any) -> Any:
    return claim.as_dict() if isinstance(claim, Claim) else claim


def _link(link: Any) -> Any:
    if isinstance(link, str) or not dataclasses.is_dataclass(link) or isinstance(link, type):
        return link
    return {name: value for name, value in dataclasses.asdict(link).items() if value is not None}


def _packed(body: bytes, claim: Claim | Any) -> bytes:
    """The body of a sitemap, packed if it is large: the brain unpacks it."""
    is_sitemap = isinstance(claim, Claim) and claim.kind == "sitemap"
    return gzip.compress(body, 6) if is_sitemap and len(body) > PACKED_FROM and body[:2] != GZIP else body


def _body(body: bytes) -> dict[str, Any]:
    """Text as text; what is none in base64, so that its hash is that of its bytes."""
    try:
        return {"body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"body": None, "body_base64": base64.b64encode(body).decode()}


def hint(given: Hint | str | Any) -> Any:
    """A hint as the service reads it."""
    return dataclasses.asdict(given) if isinstance(given, Hint) else given


def dumps(value: Any) -> str:
    """JSON; what it does not know goes as text, and is refused for that."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    return repr(value)[:200]


def parts(items: Iterable[Any]) -> Iterator[list[str]]:
    """Items as JSON, as many together as one request may have. There is one part at least."""
    part: list[str] = []
    size, none = 0, True
    for item in items:
        text = dumps(item)
        if part and (len(part) == MOST_ITEMS or size + len(text) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
        none = False
    if part or none:
        yield part


# ---------------------------------------------------------------------- answers


def claims(read: Mapping[str, Any]) -> Claims:
    """Return the answer of `next_urls`."""
    names = ("next_ready", "finished", "next_unfailed", "repeated", "next_because", "paused")
    more = {name: read[name] for name in names}
    return Claims((claim(each) for each in read["claims"]), **more)


def kinds(given: Iterable[str] | str) -> list[str]:
    """Return the kinds that a call of `next_urls` asks for; the service checks them."""
    return [given] if isinstance(given, str) else list(given)


def claim(read: Mapping[str, Any]) -> Claim:
    """Return one claim: its kind follows from its key; fields of a newer service are ignored."""
    return Claim(**{field.name: read[field.name] for field in dataclasses.fields(Claim) if field.name in read})


def answer(read: Mapping[str, Any]) -> Answer:
    """Return the answer to one report; fields of a newer service are ignored."""
    known = {field.name: read[field.name] for field in dataclasses.fields(Answer) if field.name in read}
    return Answer(**{**known, "links_refused": tuple((url, why) for url, why in read["links_refused"])})


def seed_answer(read: Mapping[str, Any]) -> SeedAnswer:
    """Return the answer of `seed`."""
    pairs = {name: tuple((url, why) for url, why in read[name]) for name in ("refused", "remarks")}
    return SeedAnswer(**{**read, **pairs})


def page(read: Mapping[str, Any]) -> Page:
    """Return a page from its fields."""
    facts = {name: value for name, value in read.items() if name not in SCORES and name != "rate"}
    if facts.get("section") is not None:
        facts["section"] = PageSection(**facts["section"])
    if facts.get("expected_copy") is not None:
        facts["expected_copy"] = ExpectedCopy(**facts["expected_copy"])
    return Page(**facts, scores={name: read[name] for name in SCORES if read.get(name) is not None})


def asked(read: Mapping[str, Any]) -> Asked:
    """An answer to a question."""
    return Asked(tuple(read["columns"]), read["rows"], read["cut"], read["note"])


def payments(read: Mapping[str, Any]) -> Payments:
    """Return the payers and payees of a page."""
    return Payments(**{side: tuple(Payment(**paid) for paid in read[side]) for side in read})


def ranking(read: Mapping[str, Any]) -> Ranking:
    """Return the answer of one ranking."""
    best = {name: tuple((url, score) for url, score in pages) for name, pages in read["best"].items()}
    return Ranking(**{**read, "best": best})


def audit(read: Mapping[str, Any]) -> Audit:
    """Return the result of an audit."""
    return Audit(read["ok"], tuple(read["findings"]), read["figures"])


def error_of(read: Any, status: int = 0) -> GraphbrainError:
    """Return the error that an answer names: of its own class, where that is one of the brain's."""
    facts = read.get("error") if isinstance(read, Mapping) else None
    if not isinstance(facts, Mapping) or not isinstance(facts.get("message"), str):
        words = f"The service answered {status}, and not as graphbrain's service does; is that its address?"
        return ServiceUnavailable(words) if status >= 500 else ServiceRefused(words)
    kind = getattr(errors, str(facts.get("type")), None)
    if isinstance(kind, type) and issubclass(kind, GraphbrainError):
        return kind(facts["message"])
    return (ServiceUnavailable if facts.get("try_again") else ServiceRefused)(facts["message"])
