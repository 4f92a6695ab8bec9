"""Reports as JSON lines: the schema says of a line what the reading does, and nobody writes it by hand."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain import Claim, Failed, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.model import FAULTS, Fault
from graphbrain.content import input_checks
from graphbrain.content.wire import claim_from_dict, meant_by, report_from_dict, report_schema, url_in
from graphbrain.service.client import shapes
from tests.documents import TEXT

A, B = "http://a.org/", "http://b.org/"
CLAIM = Claim(A, "0" * 32, "1" * 32, 99.0, "a.org", 0, etag="E")
SCHEMA = report_schema()

# ---------------------------------------------------------------------- a validator, of the words that the schema uses

_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "null": type(None),
    "boolean": bool,
    "number": (int, float),
    "integer": (int, float),
}
_WORDS = {
    *("type", "enum", "const", "anyOf", "not", "if", "else", "$ref", "required", "properties", "propertyNames"),
    "additionalProperties",
    *("items", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum"),
}
_TALK = {"$schema", "$defs", "title", "description"}


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind]) and (kind != "integer" or value == value // 1)


def valid(value: Any, spec: Any) -> bool:
    """Does JSON Schema accept the value? (Draft 2020-12, as far as it is used here.)"""
    if isinstance(spec, bool):
        return spec
    assert set(spec) <= _WORDS | _TALK, set(spec) - _WORDS - _TALK
    if "$ref" in spec and not valid(value, SCHEMA["$defs"][spec["$ref"].removeprefix("#/$defs/")]):
        return False
    kinds = [spec["type"]] if isinstance(spec.get("type"), str) else spec.get("type")
    if kinds is not None and not any(_is(value, kind) for kind in kinds):
        return False
    if "const" in spec and (type(value), value) != (type(spec["const"]), spec["const"]):
        return False
    if "enum" in spec and value not in spec["enum"]:
        return False
    if "anyOf" in spec and not any(valid(value, one) for one in spec["anyOf"]):
        return False
    if "not" in spec and valid(value, spec["not"]):
        return False
    if "else" in spec and not valid(value, spec["if"]) and not valid(value, spec["else"]):
        return False
    return _inside(value, spec)


def _inside(value: Any, spec: Mapping[str, Any]) -> bool:
    if isinstance(value, dict):
        names = spec.get("propertyNames", True)
        return (
            all(name in value for name in spec.get("required", ()))
            and all(valid(name, names) for name in value)
            and all(
                valid(value[name], spec.get("additionalProperties", True))
                for name in value
                if name not in spec.get("properties", ())
            )
            and all(valid(value[name], one) for name, one in spec.get("properties", {}).items() if name in value)
        )
    if isinstance(value, list):
        return len(value) <= spec.get("maxItems", len(value)) and all(
            valid(item, spec.get("items", True)) for item in value
        )
    if isinstance(value, str):
        length = spec.get("minLength", 0) <= len(value) <= spec.get("maxLength", len(value))
        return length and ("pattern" not in spec or re.fullmatch(spec["pattern"], value) is not None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return bool(spec.get("minimum", value) <= value <= spec.get("maximum", value))
    return True


# ---------------------------------------------------------------------- what is read


def read(line: Any) -> Any:
    """What the line is read as; None where it is refused for what its fields hold."""
    try:
        report = report_from_dict(line)
        if isinstance(report, Failed) and report.retry_after is not None:
            report = dataclasses.replace(report, retry_after=None)  # a header says what it likes
        input_checks.checked(report)
    except BadInput as error:
        assert str(error) and "\n" not in str(error)
        return None
    return report


_MODEL = {field.name for kind in (Fetched, Failed) for field in dataclasses.fields(kind)}
_numbers = st.sampled_from(
    [-1, 0, 0.5, 1, 1.0, 99, 99.5, 100, 200, 204.0, 304, 400, 404, 503, 999, 1000, 1e9, 1e11, 1e12, 1e13]
)
_texts = st.sampled_from(["", "x", A, "0" * 32, "é", "Wed, 21 Oct 2015 07:28:00 GMT", "x" * 201])
_scalars = st.none() | st.booleans() | _numbers | _texts | st.sampled_from([2**64 - 1, -(2**64), 2**70])
_links = st.lists(
    _texts | st.fixed_dictionaries({}, optional={"url": _scalars, "relevance": _scalars, "href": _texts}) | _scalars,
    max_size=3,
)
_claims = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("etag", "depth", "until", "note"), _scalars),
        "url": st.just(A) | _scalars,
        "key": st.just("0" * 32) | _scalars,
        "token": st.just("t") | _scalars,
    },
)
_good: dict[str, Any] = {"links": _links, "claim": st.just(CLAIM.as_dict()) | _claims, "url": st.just(A)}
_values = _scalars | _links | st.just({})
_lines = st.fixed_dictionaries(
    {"url": st.just(A) | st.just(A) | _scalars},
    optional={
        name: _good.get(name, st.nothing()) | _values for name in [*sorted(_MODEL - {"url"}), "failed", "stauts"]
    },
)


@settings(max_examples=1500, deadline=None)
@given(_lines)
def test_what_the_schema_accepts_is_read_and_what_it_does_not_is_refused(line: dict[str, Any]) -> None:
    if line.get("address") is not None and isinstance(line["address"], str):
        line["address"] = "192.0.2.1"  # that it is none, no schema can say
    line = json.loads(json.dumps(line))
    assert valid(line, SCHEMA) == (read(line) is not None)


@pytest.mark.parametrize("name", sorted(_MODEL - {"url"}))
def test_of_each_field_both_say_the_same_whatever_else_there_is(name: str) -> None:
    """One by one, so that no field is missed."""
    values: list[Any] = [None, True, False, 0, 1, 0.5, 99, 200, 200.0, 1e12, "x", "", [], [A], [7], {}, CLAIM.as_dict()]
    accepted = 0
    for value in values:
        for more in ({}, {"failed": True}, {"status": 404}, {"error": "x"}, {"status": 404, "links": [B]}):
            line = {"url": A, **more, name: value}
            if name == "address" and isinstance(value, str):
                continue
            assert valid(line, SCHEMA) == (read(line) is not None), line
            accepted += valid(line, SCHEMA)
    assert (accepted and accepted < len(values) * 5) or name == "failed"


def test_the_schema_knows_every_field_of_the_model_and_no_other() -> None:
    assert set(SCHEMA["properties"]) == {*_MODEL, "failed", "body_base64"}
    assert set(SCHEMA["else"]["properties"]) == {name for name, one in SCHEMA["properties"].items() if one is True}
    described = {**SCHEMA["properties"], **SCHEMA["else"]["properties"]}
    assert "absolute, in page order" in described["links"]["description"]
    assert "0 to 1" in described["relevance"]["description"]
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize(
    "report",
    [
        Fetched(A),
        Fetched(A, [B], CLAIM, 200, simhash=-5, changed=True, relevance=0.5, fetched_at=1.7e9, address="192.0.2.1"),
        Failed(A, CLAIM, 503, "busy", 7.5),
        Failed(A, error="time-out"),
        Failed(A, status=429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    ],
    ids=repr,
)
def test_what_the_model_says_of_itself_is_a_line(report: Any) -> None:
    line = json.loads(json.dumps(dataclasses.asdict(report)))
    if isinstance(report, Failed):
        line["failed"] = True
    assert valid(line, SCHEMA)
    assert type(read(line)) is type(report)


def test_the_lines_of_the_readme_are_lines() -> None:
    claim = json.dumps(CLAIM.as_dict())
    section = TEXT.split("A line for `report` is a JSON object:")[1].split("\n\n")[0]
    shown = re.findall(r"`(\{.*?\})`", section.replace("\n", " "))
    assert len(shown) >= 2
    for text in shown:
        for name, value in (("url", f'"{A}"'), ("claim", claim), ("links", "[]"), ("body_hash", '"x"')):
            text = text.replace(f'"{name}": …', f'"{name}": {value}').replace(f'"{name}": […]', f'"{name}": {value}')
        assert valid(json.loads(text), SCHEMA), text
        assert read(json.loads(text)) is not None


# ---------------------------------------------------------------------- what is said of what cannot be read


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"url": A, "stauts": 200}, ("'stauts'", "did you mean 'status'?")),
        ({"url": A, "wholly": 1}, ("'wholly'", "there are address, blocks")),
        ({"url": A, "status": "200"}, ("'status'", "a whole number from 100 to 999", "'200'")),
        ({"url": A, "links": [B, {"href": B}]}, ("'links[1]'", "{'href'")),
        ({"url": A, "links": [{"url": B, "relevence": 1}]}, ("'links[0]'", "did you mean 'relevance'?")),
        ({"url": A, "links": [{"url": B, "relevance": 7}]}, ("'links[0].relevance'", "from 0 to 1", "7")),
        ({"url": A, "body": 7}, ("'body'", "text", "7")),
        ({"url": A, "claim": "x"}, ("'claim'", "claimed")),
        ({"url": A, "claim": {"url": A, "key": "0" * 32}}, ("'claim'", "'token'", "has none")),
        ({"url": A, "retry_after": [1], "failed": True}, ("'retry_after'", "a number or text")),
    ],
    ids=str,
)
def test_a_refusal_names_the_field_and_what_it_holds(line: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as refused:
        report_from_dict(line)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_a_line_names_its_url_though_it_is_none_of_a_report() -> None:
    assert url_in({"url": A, "status": "x"}) == A
    assert url_in({"url": 7, "claim": CLAIM.as_dict()}) == A
    assert url_in({"url": 7}) == url_in({}) == ""


def test_a_claim_alone_or_in_a_line() -> None:
    assert meant_by(CLAIM.as_dict()) == meant_by({"url": A, "links": [], "claim": CLAIM.as_dict()}) == CLAIM
    few = {"url": A, "key": CLAIM.key, "token": CLAIM.token}
    assert (claim_from_dict(few).key, claim_from_dict(few).token) == (CLAIM.key, CLAIM.token)
    for wrong in ({}, {"claim": None}, {**few, "key": "x"}, {**few, "nonsense": 1}):
        with pytest.raises(BadInput):
            meant_by(wrong)


def test_a_body_that_is_no_text_goes_in_base64() -> None:
    raw = bytes(range(256))
    told = {"url": A, "body": "this is not it", "body_base64": base64.b64encode(raw).decode()}
    assert report_from_dict(told) == Fetched(A, body=raw)
    assert report_from_dict({"url": A, "body_base64": None, "body": "text"}) == Fetched(A, body=b"text")
    for wrong in ("a", "a===", "ab cd", "é===", 5, True):
        with pytest.raises(BadInput, match="'body_base64' must be base64"):
            report_from_dict({"url": A, "body_base64": wrong})
    assert report_from_dict({"url": A, "failed": True, "body_base64": "a"}) == Failed(A)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("x", "A report must be a JSON object with a 'url'."),
        ({}, "A report must be a JSON object with a 'url'."),
        ({"url": None}, "A report must be a JSON object with a 'url'."),
        ({"url": 5}, "'url' must be text, not 5."),
        ({"url": "http://a.example/", "claim": 5}, "'claim' must be the object that was claimed, not 5."),
        (
            {"url": "http://a.example/", "claim": {"url": "http://a.example/", "token": "x"}},
            "'claim' must have the 'key' with which it was claimed, and has none.",
        ),
    ],
)
def test_what_is_wrong_is_told_without_the_command_line(item: Any, words: str) -> None:
    with pytest.raises(BadInput) as raised:
        report_from_dict(item)
    assert str(raised.value) == words


@pytest.mark.parametrize("fault", [*FAULTS, None])
def test_a_fault_makes_a_failure_and_comes_through_both_ways(fault: Fault | None) -> None:
    failed = Failed(A, CLAIM, error="it was so", fault=fault)
    line = json.loads(json.dumps(shapes.report(failed, 1.0)))
    assert report_from_dict(line) == failed and valid(line, SCHEMA)
    alone = {"url": A, "fault": fault}
    assert isinstance(report_from_dict(alone), Failed if fault else Fetched) and valid(alone, SCHEMA)


def test_a_fault_is_one_of_three() -> None:
    with pytest.raises(BadInput, match="one of silent, not_sent, not_understood"):
        report_from_dict({"url": A, "fault": "mine"})
    with pytest.raises(BadInput, match="fault must be"):
        input_checks.checked(Failed(A, fault="mine"))  # type: ignore[arg-type]
    assert not valid({"url": A, "fault": "mine"}, SCHEMA)
