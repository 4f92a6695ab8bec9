"""Tokens: unique, in the order of their times, and they tell these."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.runtime.tokens import made_at, token


@given(st.floats(0, 2**48 / 1000 - 1))
def test_a_token_tells_when_it_was_made(now: float) -> None:
    made = token(now)
    known = uuid.UUID(hex=made)
    assert (known.version, known.variant) == (7, uuid.RFC_4122)
    assert made_at(made) == pytest.approx(now, abs=0.0011)


def test_tokens_of_one_moment_differ() -> None:
    assert len({token(1e9) for _ in range(10_000)}) == 10_000


@given(st.floats(0, 4e9), st.floats(0.002, 1e9))
def test_later_tokens_come_later_in_order(now: float, later: float) -> None:
    assert token(now) < token(now + later)


@pytest.mark.parametrize("text", ["", "x" * 32, "0" * 32, "5f1c3f0c8d0e4a5db7a3f0a6c2b9e417", None, 5])
def test_other_texts_tell_no_time(text: object) -> None:
    assert made_at(text) is None  # type: ignore[arg-type]
