"""Values as JSON and back: reports as the service reads them, and its answers as the types of `graphbrain.model`."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from graphbrain.base import errors
from graphbrain.base.errors import GraphbrainError, ServiceRefused, ServiceUnavailable
from graphbrain.base.model import BESIDE, AnyReport, Claim, Claims, Failed, Fetched, Hint, Page, Resource, Unusable
from graphbrain.base.numeric.methods import SCORES

__all__ = ["dumps", "error_of", "item", "listed", "parts", "read", "report", "text"]

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
    # Items that are no pages, or cannot be read.
    if isinstance(item, Unusable):
        return {"url": item.url, "claim": _claim(item.claim), "unusable": item.reason}
    if isinstance(item, Resource):
        item = item.as_report()
    if not isinstance(item, Fetched | Failed):
        return {"url": str(item)[:200], "unusable": type(item).__name__}
    # A page has the fields that differ from the defaults, a claim or a time, a body, and links.
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


def item(given: Any, name: str) -> Any:
    """Return an item of a list as the service reads it: a claim among `pages` by its key."""
    if isinstance(given, Claim):
        return given.key if name == "pages" else given.as_dict()
    return dataclasses.asdict(given) if isinstance(given, Hint) else given


def listed(given: Iterable[Any] | None) -> Any:
    """Return a list of what is given; a text and None as they are: the service refuses them where they are wrong."""
    return given if given is None or isinstance(given, str) else list(given)


def text(given: str | bytes | None) -> str | None:
    """Return a text. Bytes are read as UTF-8, as a robots.txt is."""
    return given.decode("utf-8-sig", "replace") if isinstance(given, bytes) else given


def dumps(value: Any) -> str:
    """Return a value as JSON. A part that JSON cannot hold becomes text, and the service refuses it."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    return repr(value)[:200]


def parts(items: Iterable[Any]) -> Iterator[list[str]]:
    """Yield items as JSON, pairs as those of an object: as many as one request may have. There is one part at least."""
    part: list[str] = []
    size, none = 0, True
    for item in items:
        text = dumps(dict([item]))[1:-1] if isinstance(item, tuple) else dumps(item)
        if part and (len(part) == MOST_ITEMS or size + len(text) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
        none = False
    if part or none:
        yield part


# ---------------------------------------------------------------------- answers


def read(kind: Any, value: Any) -> Any:
    """Return an answer as the type of the brain's that it is. Fields of a newer service are ignored.

    Raises:
        ServiceRefused: It is none of this type.
    """
    if kind is Page:
        value = _page(value)
    if kind == list[Page]:
        return [read(Page, each) for each in value]
    if kind is Claims:
        return Claims(read(list[Claim], value["claims"]), **{name: value[name] for name in BESIDE})
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise ServiceRefused(
            f"The service answered in another form than this client reads ({where}); install the same version of both."
        ) from None


_adapter = cache(TypeAdapter)


def _page(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a page: its JSON has each batch score beside them."""
    scores = {name: value[name] for name in SCORES if value.get(name) is not None}
    return {**{name: each for name, each in value.items() if name not in SCORES and name != "rate"}, "scores": scores}


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
