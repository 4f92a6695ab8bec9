"""Retry-After in every form that servers write it; and what is none is taken for nothing said."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import format_datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.content.retry_after import LONGEST, moment, seconds

NOW = 1_790_000_000.0
DATES = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)).map(lambda at: at.replace(microsecond=0, tzinfo=UTC))


@given(DATES, st.floats(0.0, 4e9))
def test_a_date_in_every_form(date: datetime, now: float) -> None:
    wait = min(max(0.0, date.timestamp() - now), LONGEST)
    forms = [format_datetime(date, usegmt=True), format_datetime(date), date.strftime("%a %b %e %H:%M:%S %Y")]
    if 1970 <= date.year < 2069:
        forms.append(date.strftime("%A, %d-%b-%y %H:%M:%S GMT"))
    for text in forms:
        assert seconds(text, now) == seconds(f"  {text} ", now) == seconds(text.encode(), now) == wait
        assert moment(text) == date.timestamp()


@given(st.integers(0, 10**12) | st.floats(0.0, 1e12).map(lambda x: round(x, 3)))
def test_a_number_is_itself_up_to_a_bound(number: float) -> None:
    wait = min(float(number), LONGEST)
    assert seconds(number, NOW) == seconds(np.float64(number), NOW) == wait
    assert seconds(f"{number:f}" if isinstance(number, float) else f" {number} ", NOW) == pytest.approx(wait)


@given(
    st.one_of(st.text(), st.binary(), st.floats(), st.integers(), st.fractions(), st.none(), st.lists(st.integers()))
)
def test_whatever_it_is_the_answer_is_seconds_or_nothing(value: object) -> None:
    wait = seconds(value, NOW)
    assert wait is None or (math.isfinite(wait) and 0.0 <= wait <= LONGEST)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        *((math.nan, None), (math.inf, None), (-math.inf, None), (-5, None), ("-5", None), (True, None), (None, None)),
        *(("", None), ("soon", None), ("1e3", None), ("٣", None), ("120s", None), ({}, None), ("9" * 400, LONGEST)),
        *(
            (10**400, LONGEST),
            (-(10**400), None),
            (0, 0.0),
            (0.5, 0.5),
            ("0", 0.0),
            (Fraction(1, 2), 0.5),
        ),
        *((np.int64(7), 7.0), ("Wed, 99 Oct 2026 07:28:00 GMT", None), ("Wed, 21 Oct 99999 07:28:00 GMT", None)),
        *(("Wed, 21 Oct 2026 07:28:00 +9999", None), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)),
    ],
)
def test_what_is_out_of_the_ordinary(value: object, wait: float | None) -> None:
    assert seconds(value, NOW) == wait


def test_a_number_that_cannot_even_be_shown() -> None:
    assert seconds(10**5000, NOW) == LONGEST


def test_a_leap_second_is_a_date() -> None:
    assert moment("Sat, 31 Dec 2016 23:59:60 GMT") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
