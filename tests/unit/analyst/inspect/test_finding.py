"""When the frontier will be done: what is said of it by what was counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.analyst.inspect.finding import CHANCE, FEW, Flows, outlook

counts = st.integers(0, 100_000)


@pytest.mark.parametrize(
    ("waiting", "flows", "end", "hours"),
    [
        (0, Flows(0, 0, 0, 0.0), "done", 0.0),
        (10, Flows(0, 0, 0, 0.0), "unknown", None),
        (10, Flows(5, 60, 1, 60.0), "unknown", None),
        (600, Flows(100, 40, 100, 1800.0), "ends", 5.0),
        (600, Flows(100, 0, 100, 3600.0), "ends", 6.0),
        (600, Flows(100, 300, 100, 3600.0), "never", None),
        (600, Flows(1000, 990, 1000, 3600.0), "unknown", None),
    ],
)
def test_what_is_said(waiting: int, flows: Flows, end: str, hours: float | None) -> None:
    found = outlook(waiting, flows)
    assert (found.end, found.hours) == (end, None if hours is None else pytest.approx(hours))
    assert found.because


def test_the_rate_of_finding_is_of_visits() -> None:
    assert outlook(5, Flows(100, 30, 80, 60.0)).found_per_visit == 0.3
    assert outlook(5, Flows(0, 0, 0, 0.0)).found_per_visit is None


@given(waiting=counts, found=counts, left=counts, seconds=st.floats(1.0, 7200.0))
def test_it_ends_only_where_it_shrinks_by_more_than_chance(waiting: int, found: int, left: int, seconds: float) -> None:
    told = outlook(waiting, Flows(max(1, left), found, left, seconds))
    apart = abs(left - found) > CHANCE * (left + found) ** 0.5
    if not waiting:
        assert told.end == "done"
    elif left < FEW or not apart:
        assert told.end == "unknown"
    else:
        assert told.end == ("ends" if left > found else "never")
    assert (told.hours is not None) == (told.end in ("done", "ends"))
    if told.end == "ends":
        # A simulation at this pace: so many pages are left after the time that is told.
        assert told.hours is not None
        pages_an_hour = (found - left) * 3600.0 / seconds
        assert waiting + pages_an_hour * told.hours == pytest.approx(0.0, abs=1e-6 * max(1, waiting))
