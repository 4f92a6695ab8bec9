"""The values at the border: JSON lines in and out, sequences that say more than their items."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from graphbrain import Answer, Claim, Claims, Failed, Fetched, Link
from graphbrain.base.errors import BadInput
from graphbrain.base.model import SeedAnswer
from graphbrain.base.runtime.tokens import token
from graphbrain.base.work import Tended
from graphbrain.content.wire import claim_in, report_from_dict

A, B = "http://a.org/", "http://b.org/"
CLAIM = Claim(A, "0" * 32, "1" * 32, 99.0, "a.org", 0, etag="E")


def test_claims_are_a_sequence_with_an_outlook() -> None:
    claims = Claims([CLAIM], next_ready=5.0)
    assert (len(claims), claims[0], list(claims), claims[0:1]) == (1, CLAIM, [CLAIM], (CLAIM,))
    assert (claims.next_ready, claims.finished) == (5.0, False)
    assert not Claims([], finished=True)
    assert "finished=True" in repr(Claims([], finished=True))


@pytest.mark.parametrize(
    "value", [CLAIM, Fetched(A), Failed(A), Link(A), Answer(A, True), Tended()], ids=lambda v: type(v).__name__
)
def test_values_are_frozen(value: Any) -> None:
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, "x")


def test_tended_adds_up() -> None:
    both = Tended(1, 2, 3, 4, 5.0, True) + Tended(10, 20, 30, 40, 50.0, False)
    assert both == Tended(11, 22, 33, 44, 55.0, False)


def test_a_claim_survives_json() -> None:
    line = json.dumps({"url": A, "claim": dataclasses.asdict(CLAIM)})
    assert report_from_dict(json.loads(line)) == Fetched(A, claim=CLAIM)


def test_a_claim_tells_since_when_it_is_held() -> None:
    assert dataclasses.replace(CLAIM, token=token(1_700_000_000.25)).claimed == 1_700_000_000.25
    assert CLAIM.claimed is None
    assert "claimed" not in CLAIM.as_dict()


def test_a_line_that_is_no_report_may_have_a_claim() -> None:
    assert claim_in({"url": 7, "claim": CLAIM.as_dict()}) == CLAIM
    for line in ({}, {"claim": None}, {"claim": "x"}, {"claim": {"url": A}}, {"claim": {"nonsense": 1}}):
        assert claim_in(line) is None


def test_what_several_seeds_wrote_adds_up() -> None:
    one = SeedAnswer(1, 2, (("x", "why"),), 3, 4, 5, (("y", "so"),))
    assert one + one == SeedAnswer(2, 4, (("x", "why"),) * 2, 6, 8, 10, (("y", "so"),) * 2)


def test_an_answer_becomes_json() -> None:
    answer = Answer(A, True, outcome="new", links=1, links_refused=(("x", "why"),))
    assert json.loads(json.dumps(answer.as_dict()))["links_refused"] == [["x", "why"]]


@pytest.mark.parametrize(
    ("line", "report"),
    [
        ({"url": A}, Fetched(A)),
        ({"url": A, "status": 200, "links": [B]}, Fetched(A, (B,))),
        ({"url": A, "links": [{"url": B, "relevance": 0.5}]}, Fetched(A, (Link(B, 0.5),))),
        ({"url": A, "links": [{"url": B, "value": 7}], "value": 40}, Fetched(A, (Link(B, value=7),), value=40)),
        ({"url": A, "body": "ä"}, Fetched(A, body="ä".encode())),
        ({"url": A, "status": 404}, Failed(A, status=404)),
        ({"url": A, "status": 404, "etag": "x", "links": []}, Failed(A, status=404)),
        ({"url": A, "status": 404, "links": [B]}, Fetched(A, (B,), status=404)),
        ({"url": A, "failed": True, "links": [B], "body": "x"}, Failed(A, body=b"x")),
        ({"url": A, "failed": True, "body": 5}, Failed(A)),
        ({"url": A, "status": 302, "led_to": [B]}, Fetched(A, status=302, led_to=(B,))),
        ({"url": A, "failed": False, "error": None, "claim": None, "links": []}, Fetched(A)),
        ({"url": A, "status": 503, "retry_after": 9}, Failed(A, status=503, retry_after=9)),
        ({"url": A, "error": "time-out"}, Failed(A, error="time-out")),
        ({"url": A, "failed": True}, Failed(A)),
        ({"url": A, "failed": False, "status": 200}, Fetched(A)),
        ({"url": A, "status": 429, "retry_after": 9}, Failed(A, status=429, retry_after=9)),
        ({"url": A, "claim": None}, Fetched(A)),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_json_line_is_a_report(line: dict[str, Any], report: object) -> None:
    assert report_from_dict(line) == report


@pytest.mark.parametrize(
    "line",
    [
        None,
        [],
        "http://a.org/",
        {},
        {"url": None},
        {"url": A, "lnks": []},
        {"url": A, "links": None},
        {"url": A, "links": 7},
        {"url": A, "links": [7]},
        {"url": A, "links": [{"href": B}]},
        {"url": A, "links": [{}]},
        {"url": A, "status": "200"},
        {"url": A, "failed": "no"},
        {"url": A, "failed": 1},
        {"url": A, "status": 99},
        {"url": A, "status": 2.5},
        {"url": A, "status": True},
        {"url": A, "claim": {"url": A}},
        {"url": A, "claim": {"token": "x", "nonsense": 1}},
    ],
    ids=repr,
)
def test_a_bad_json_line_says_what_is_wrong(line: Any) -> None:
    with pytest.raises(BadInput) as refused:
        report_from_dict(line)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")
