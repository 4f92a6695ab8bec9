"""Reports and claims as JSON lines: functions that read them, and their schema for crawlers in other languages.

The values that a field may have are derived from the model, so that the schema and the functions agree.
"""

from __future__ import annotations

import base64
import dataclasses
import difflib
import inspect
import json
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from graphbrain.base.errors import BadInput
from graphbrain.base.model import (
    FAULTS,
    KINDS,
    RESOURCE_KEY,
    Claim,
    Failed,
    Fetched,
    Hint,
    Link,
    Report,
    Unusable,
    kind_of,
)
from graphbrain.content.input_checks import LISTS, LONGEST_NAME, RANGES

__all__ = [
    "answered",
    "claim_from_dict",
    "claim_in",
    "hint_from_dict",
    "json_object",
    "lost",
    "meant_by",
    "report_from_dict",
    "report_schema",
    "returned",
    "url_in",
]

T = TypeVar("T")
A = TypeVar("A")
Spec = Mapping[str, Any]
"""The values that a field may have, as a part of a JSON Schema."""

_JSON: dict[Any, str] = {str: "string", bytes: "string", float: "number", int: "integer", bool: "boolean"}
_WORDS = {"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false"}
BASE64 = "body_base64"
"""The field for a body that is no text; it takes precedence over `body`."""
_BODY = frozenset({"body", BASE64})
_OF_PAGES = _BODY | ({f.name for f in dataclasses.fields(Fetched)} - {f.name for f in dataclasses.fields(Failed)})
"""The fields that are checked in a fetched page only. A failure may have a body, which is ignored if it is not
valid."""
_SHAPES: dict[str, Spec] = {
    "claim": {"$ref": "#/$defs/claim"},
    "links": {"type": "array", "items": {"$ref": "#/$defs/link"}},
    "fault": {"type": "string", "enum": list(FAULTS)},
    **{name: {"type": "array", "items": {"type": "string"}} for name in LISTS},
}
_ENCODED: Spec = {
    "type": "string",
    "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "contentEncoding": "base64",
}
_CLAIM: dict[str, Spec] = {
    "url": {"type": "string"},
    "key": {"type": "string", "pattern": f"^(?:[0-9a-f]{{32}}|{RESOURCE_KEY})$"},
    "token": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
}
"""The fields that identify a claim. The others are passed on unchecked."""


# ---------------------------------------------------------------------- the values of fields


@cache
def _specs(kind: type) -> dict[str, Spec]:
    """Return each field of Fetched, Failed or Link → the values that it may have apart from null."""
    specs: dict[str, Spec] = {}
    for name, hint in get_type_hints(kind).items():
        if name in _SHAPES:
            specs[name] = _SHAPES[name]
            continue
        types = [_JSON[one] for one in (get_args(hint) or (hint,)) if one in _JSON]
        least, most = RANGES.get(name, (None, None))
        limits = {} if least is None else {"minimum": least, "maximum": most}
        specs[name] = {"type": types[0] if len(types) == 1 else types, **limits}
    return specs


def _fits(value: Any, spec: Spec) -> bool:
    """Return whether a value fits the spec. Of JSON Schema, only the keywords that `_specs` uses are tested."""
    types = [spec["type"]] if isinstance(spec["type"], str) else spec["type"]
    # A bool of Python is an int, too.
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, str):
        if "string" not in types or not spec.get("minLength", 0) <= len(value) <= spec.get("maxLength", len(value)):
            return False
        if "enum" in spec:
            return value in spec["enum"]
        return "pattern" not in spec or re.fullmatch(spec["pattern"], value) is not None
    if isinstance(value, int | float):
        if "number" not in types and not ("integer" in types and value == value // 1):
            return False
        return bool(spec.get("minimum", value) <= value <= spec.get("maximum", value))
    return False


def _words(spec: Spec) -> str:
    """Return the values that a spec allows, in words for a message."""
    if "enum" in spec:
        return f"one of {', '.join(spec['enum'])}"
    types = [spec["type"]] if isinstance(spec["type"], str) else spec["type"]
    text = spec.get("contentEncoding") or " or ".join(_WORDS[one] for one in types)
    if "minimum" in spec:
        text += f" from {spec['minimum']:g} to {spec['maximum']:g}"
    return text


def _checked(name: str, value: Any, spec: Spec) -> Any:
    """Return the value, as an int if the spec demands one. Raise BadInput for a value that does not fit."""
    if not _fits(value, spec):
        raise BadInput(f"{name!r} must be {_words(spec)}, not {reprlib.repr(value)}.")
    return int(value) if spec["type"] == "integer" else value


# ---------------------------------------------------------------------- reading


def json_object(line: str | bytes) -> dict[str, Any]:
    """Return the JSON object in a line. Raise BadInput with the reason."""
    try:
        item = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"Not JSON: {error}.") from None
    if not isinstance(item, dict):
        raise BadInput("Not a JSON object.")
    return item


def report_from_dict(item: Mapping[str, Any]) -> Report:
    """Return a `Fetched` or `Failed` from one JSON object, as `graphbrain report` reads them.

    An object with `failed: true`, with `error`, `fault` or `retry_after`, or with a status of 400 and above and no
    links is a failure. A field that is null counts as absent. `claim` is the claim, unchanged. Raise BadInput with the
    reason.
    """
    if not isinstance(item, Mapping) or item.get("url") is None:
        raise BadInput("A report must be a JSON object with a 'url'.")
    _checked("url", item["url"], {"type": "string"})
    # Check the names of all fields, and the two that decide between a page and a failure.
    data = {name: value for name, value in item.items() if value is not None or name == "links"}
    _check_fields(data, _names(), "a report")
    failed = _checked("failed", data.pop("failed", False), {"type": "boolean"})
    status = data.get("status")
    if status is not None:
        status = _checked("status", status, _specs(Failed)["status"])
    # A failure keeps its own fields. Those of a page are ignored, whatever their values.
    if (
        failed
        or not {"error", "fault", "retry_after"}.isdisjoint(data)
        or ((status or 0) >= 400 and not _has_links(data))
    ):
        values = _values(Failed, {name: value for name, value in data.items() if name not in _OF_PAGES})
        with suppress(BadInput):
            values |= _body(data)
        return Failed(**values)
    body = _body(data)
    return Fetched(**_values(Fetched, {name: value for name, value in data.items() if name not in _BODY}) | body)


def _body(data: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the argument `body` for a report, if the line has a body. Raise BadInput for one that is not valid."""
    if BASE64 in data:
        return {"body": base64.b64decode(_checked(BASE64, data[BASE64], _ENCODED))}
    if "body" in data:
        return {"body": _checked("body", data["body"], _specs(Fetched)["body"]).encode("utf-8", "surrogatepass")}
    return {}


@cache
def _names() -> frozenset[str]:
    return frozenset({"failed", BASE64, *_specs(Fetched), *_specs(Failed)})


def _has_links(data: Mapping[str, Any]) -> bool:
    return data.get("links") is not None and data["links"] != [] and data["links"] != ()


def _values(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name == "claim":
            values[name] = claim_from_dict(value)
        elif name == "links":
            values[name] = _links(value)
        elif name in LISTS:
            values[name] = _texts(name, value)
        else:
            values[name] = _checked(name, value, _specs(kind)[name])
    return values


def _links(links: Any) -> tuple[str | Link, ...]:
    if not isinstance(links, list | tuple):
        raise BadInput(f"'links' must be a list, not {reprlib.repr(links)}.")
    return tuple(link if isinstance(link, str) else _link(number, link) for number, link in enumerate(links))


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise BadInput(f"{name!r} must be a list of texts, not {reprlib.repr(value)}.")
    return tuple(value)


def _link(number: int, link: Any) -> Link:
    name = f"links[{number}]"
    if not isinstance(link, Mapping) or not isinstance(link.get("url"), str):
        raise BadInput(f"'{name}' must be a URL or an object with a 'url', not {reprlib.repr(link)}.")
    _check_fields(link, _specs(Link), f"'{name}'")
    given = {each: value for each, value in link.items() if value is not None}
    return Link(**{each: _checked(f"{name}.{each}", value, _specs(Link)[each]) for each, value in given.items()})


def claim_from_dict(claim: Any) -> Claim:
    """Return a claim from its JSON object. Raise BadInput with the reason."""
    if not isinstance(claim, Mapping):
        raise BadInput(f"'claim' must be the object that was claimed, not {reprlib.repr(claim)}.")
    _check_fields(claim, {*_fields(Claim), "kind"}, "'claim'")
    for name, spec in _CLAIM.items():
        if not _fits(claim.get(name), spec):
            given = "has none" if claim.get(name) is None else f"has {reprlib.repr(claim[name])}"
            raise BadInput(f"'claim' must have the '{name}' with which it was claimed, and {given}.")
    kind = kind_of(claim["key"])
    if claim.get("kind", kind) != kind:
        raise BadInput(f"'claim' has the key of a {kind}, but its kind is {reprlib.repr(claim['kind'])}.")
    values: dict[str, Any] = {name: value for name, value in claim.items() if name != "kind"}
    return Claim(**{"until": 0.0, "host": "", "depth": 0, **values})


def hint_from_dict(item: Any) -> Hint:
    """Return a hint from a JSON object. Raise BadInput with the reason. The types of its values are checked later."""
    if not isinstance(item, Mapping) or not isinstance(item.get("url"), str):
        raise BadInput("A hint is a URL, a key, or an object with a 'url'.")
    _check_fields(item, _fields(Hint), "a hint")
    return Hint(**{name: value for name, value in item.items() if value is not None})


def claim_in(item: Mapping[str, Any]) -> Claim | None:
    """Return the claim in a JSON object that may be no valid report, else None. The caller can then end its lease."""
    try:
        return claim_from_dict(item["claim"]) if isinstance(item.get("claim"), Mapping) else None
    except BadInput:
        return None


def meant_by(item: Mapping[str, Any]) -> Claim:
    """Return the claim of a JSON object, which is a claim itself or has one in `claim`. Raise BadInput for another."""
    return claim_from_dict(item.get("claim") if "claim" in item else item)


def url_in(item: Mapping[str, Any]) -> str:
    """Return the URL in a JSON object that may be no valid report: its own, or that of its claim; empty without
    either."""
    claim = item.get("claim")
    for url in (item.get("url"), claim.get("url") if isinstance(claim, Mapping) else None):
        if isinstance(url, str):
            return url
    return ""


def answered(
    items: Sequence[T | Unusable], do: Callable[[list[T]], Iterable[A]]
) -> list[tuple[T | Unusable, A | None]]:
    """Return each item with its answer, and each that is unusable with None. `do` gets all others together."""
    answers = iter(do([item for item in items if not isinstance(item, Unusable)]))
    return [(item, None if isinstance(item, Unusable) else next(answers)) for item in items]


def lost(claim: Claim | Unusable) -> dict[str, Any]:
    """Return the answer about a claim that was lost, or about an item that is no claim."""
    if isinstance(claim, Unusable):
        return {"url": claim.url, "refused": True, "reason": claim.reason}
    return {"url": claim.url, "key": claim.key, "lost": True}


def returned(claim: Claim | Unusable, is_given_back: bool | None) -> dict[str, Any]:
    """Return the answer about a claim that was to be given back, or about an item that is no claim."""
    if isinstance(claim, Unusable) or not is_given_back:
        return lost(claim)
    return {"url": claim.url, "key": claim.key, "given_back": True}


@cache
def _fields(kind: type) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(kind))


def _check_fields(data: Iterable[str], allowed: Iterable[str], what: str) -> None:
    """Raise BadInput for an unknown field."""
    for name in sorted(set(data).difference(allowed)):
        names = sorted(allowed)
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
        raise BadInput(f"Unknown field {name!r} in {what} ({hint}).")


# ---------------------------------------------------------------------- the schema


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a line for `graphbrain report`."""
    # Separate the fields of every line from those that only a fetched page has.
    shared = {name: spec for name, spec in _described(Failed).items() if name not in _BODY}
    pages = {name: spec for name, spec in _described(Fetched).items() if name in _OF_PAGES}
    shared["status"]["description"] = (
        "the HTTP status; null, or left out: 200, or of a failure that there was none: `error` and `fault` "
        "describe the failure"
    )
    body = "the body, in base64, where it is no text; takes precedence over body"
    pages[BASE64] = {**_ENCODED, "type": ["string", "null"], "description": body}
    failed = {"type": ["boolean", "null"], "description": "true: it is a failure, whatever else the line has"}
    # A line reports a failure under the same conditions as in `report_from_dict`.
    nothing: dict[str, Any] = {"type": "null"}
    failure = [
        {"properties": {"failed": {"const": True}}, "required": ["failed"]},
        {"properties": {"error": {"not": nothing}}, "required": ["error"]},
        {"properties": {"fault": {"not": nothing}}, "required": ["fault"]},
        {"properties": {"retry_after": {"not": nothing}}, "required": ["retry_after"]},
        {
            "properties": {
                "status": {"type": "number", "minimum": 400},
                "links": {"anyOf": [nothing, {"type": "array", "maxItems": 0}]},
            },
            "required": ["status"],
        },
    ]
    # The schema checks the fields of a page unless the line is a failure.
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line for 'graphbrain report': a page that was fetched, or a fetch that failed",
        "type": "object",
        "required": ["url"],
        "properties": {**shared, "failed": failed, **dict.fromkeys(pages, True)},
        "additionalProperties": nothing,
        "if": {"anyOf": failure},
        "else": {"properties": pages},
        "$defs": {
            "claim": {
                "description": "the claim, unchanged",
                "type": "object",
                "required": list(_CLAIM),
                "properties": _CLAIM | {"kind": {"type": "string", "enum": list(KINDS)}},
                "propertyNames": {"enum": [*(field.name for field in dataclasses.fields(Claim)), "kind"]},
            },
            "link": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "required": ["url"],
                        "properties": _described(Link),
                        "propertyNames": {"enum": list(_specs(Link))},
                    },
                ]
            },
        },
    }


def _described(kind: type) -> dict[str, dict[str, Any]]:
    """Return each field → its values, with null if that counts as absent, and its description in the model."""
    described = _descriptions(kind)
    shown: dict[str, dict[str, Any]] = {}
    for name, spec in _specs(kind).items():
        words = {"description": described[name]} if name in described else {}
        if name == "url" or (name == "links" and kind is Fetched):
            shown[name] = {**spec, **words}
        elif "$ref" in spec:
            shown[name] = {"anyOf": [spec, {"type": "null"}], **words}
        else:
            types = [spec["type"]] if isinstance(spec["type"], str) else list(spec["type"])
            shown[name] = {**spec, "type": [*types, "null"], **words}
            if "enum" in spec:
                shown[name]["enum"] = [*spec["enum"], None]
    return shown


def _descriptions(kind: type) -> dict[str, str]:
    """Return field → its description under "Attributes:" in the docstring of its class."""
    entries = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")[2]
    described: dict[str, str] = {}
    for entry in re.split(r"^    (?=\w)", entries, flags=re.MULTILINE)[1:]:
        names, _, words = " ".join(entry.split()).partition(": ")
        described |= dict.fromkeys(names.split(", "), words.rstrip("."))
    return described
