"""What callers hand in: plain and bounded, or refused in a sentence."""

from __future__ import annotations

import enum
import math
from dataclasses import fields
from fractions import Fraction
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain import Claim, Failed, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.content import input_checks

A = "http://a.org/"


class Word(enum.StrEnum):
    """Text of a class of its own."""

    X = "x"


class Sly:
    """Raises whenever it is looked at."""

    def __repr__(self) -> str:
        raise KeyError("no")

    __str__ = __repr__


CLAIM = Claim(A, "0" * 32, "t" * 32, 1.0, "a.org", 0)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**62, 2**70),
    st.just(10**400),
    st.floats(),
    st.text(max_size=20),
    st.characters(categories=["Cs"]),
    st.sampled_from(["x" * 100_000, "\0", "a\nb", b"x", [1], {}, 1j, Fraction(1, 3), Fraction(200), np.float32(1.5)]),
    st.sampled_from([np.int64(7), np.uint64(2**64 - 1), np.True_, np.str_("x"), Word.X, HTTPStatus.OK, Sly(), CLAIM]),
)


def _stored(value: object) -> bool:
    """Is it a value that the database takes as a property, and that an index could hold?"""
    if type(value) is int:
        return -(2**64) <= value < 2**64  # a simhash; made signed before it is stored
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is str:
        return len(value) <= 8_192 and input_checks.sendable(value)
    if type(value) is tuple:
        return len(value) <= 5 and all(type(each) is str and _stored(each) for each in value)
    return value is None or type(value) is bool


@given(st.sampled_from([Fetched, Failed]), st.data())
def test_what_is_let_in_can_be_stored(kind: type, data: st.DataObject) -> None:
    names = [
        f.name for f in fields(kind) if f.name not in ("url", "links", "claim", "body", "redirected_to", "address")
    ]
    some = data.draw(st.dictionaries(st.sampled_from(names), ODD, max_size=4))
    try:
        report = input_checks.checked(kind(A, **some))
    except BadInput as error:
        assert str(error)
        return
    except KeyError:  # what cannot be shown: the intake says so of the whole item
        return
    for name in names:
        assert _stored(getattr(report, name)), name


@pytest.mark.parametrize("status", [HTTPStatus.NOT_FOUND, 404.0, np.int16(404), Fraction(404)], ids=repr)
def test_a_status_is_a_whole_number(status: Any) -> None:
    known = input_checks.checked(Fetched(A, status=status)).status
    assert (known, type(known)) == (404, int)


@pytest.mark.parametrize("status", [200.5, Fraction(401, 2), True, 99, 1000, 10**400], ids=lambda s: repr(s)[:20])
def test_what_is_no_status_is_refused(status: Any) -> None:
    with pytest.raises(BadInput, match="status must be a whole number from 100 to 999"):
        input_checks.checked(Fetched(A, status=status))


@pytest.mark.parametrize("silly", ["x" * 5_000, 'a"\r\nCookie: x', "", "\0"], ids=lambda s: repr(s)[:20])
def test_a_validator_that_no_server_would_know_again_is_left_out(silly: str) -> None:
    report = input_checks.checked(Fetched(A, etag=silly, last_modified=silly))
    assert isinstance(report, Fetched)
    assert (report.etag, report.last_modified) == (None, None)


def test_long_hashes_that_begin_alike_are_not_the_same() -> None:
    one, other = (input_checks.checked(Fetched(A, body_hash="x" * 500 + end)) for end in "ab")
    assert isinstance(one, Fetched)
    assert isinstance(other, Fetched)
    assert one.body_hash != other.body_hash
    assert len(one.body_hash or "") == 32


@pytest.mark.parametrize("wrong", ["true", 1, 1.0, "", [], -1], ids=repr)
@pytest.mark.parametrize("name", ["not_modified", "changed"])
def test_a_word_is_true_or_false(name: str, wrong: Any) -> None:
    with pytest.raises(BadInput, match=f"{name} must be true, false or nothing"):
        input_checks.checked(Fetched(A, **{name: wrong}))


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("FE80::1%eth0", "fe80::1"),
        ("fe80::1%" + "z" * 100, "fe80::1"),
        (None, None),
    ],
)
def test_an_address_has_one_spelling(text: str | None, spelt: str | None) -> None:
    assert input_checks.address(text) == spelt


@pytest.mark.parametrize(
    "wrong", ["fe80::1%" + "x" * 100_000, "a.org", "", 7, b"1.2.3.4", "1.2.3.4\0"], ids=lambda w: repr(w)[:20]
)
def test_what_is_no_address_is_refused(wrong: Any) -> None:
    with pytest.raises(BadInput, match="address must be an IP address"):
        input_checks.address(wrong)


@pytest.mark.parametrize("wrong", ["", "  ", "a\nb", "x" * 201, "\ud800", 7, None, b"me"], ids=lambda w: repr(w)[:20])
def test_what_is_no_name_is_refused_in_a_sentence(wrong: Any) -> None:
    with pytest.raises(BadInput, match="worker must be a name") as refused:
        input_checks.name("worker", wrong)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "x"},
        {"key": ["0" * 32]},
        {"key": None},
        {"token": ""},
        {"token": {}},
        {"token": "\ud800"},
        {"token": "x" * 100_000},
    ],
    ids=lambda w: repr(w)[:30],
)
def test_a_claim_that_no_page_can_be_held_by_is_none(wrong: dict[str, Any]) -> None:
    claim = Claim(**{**{f.name: getattr(CLAIM, f.name) for f in fields(CLAIM)}, **wrong})
    assert not input_checks.usable(claim)
    assert input_checks.usable(CLAIM)
    with pytest.raises(BadInput, match="the claim has no"):
        input_checks.checked(Fetched(A, claim=claim))


def test_what_cannot_be_shown_is_named_all_the_same() -> None:
    assert "Sly" in input_checks.shown(Sly())
