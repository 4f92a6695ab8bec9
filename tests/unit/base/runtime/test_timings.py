"""Histograms of seconds: every observation is counted once, in the class that holds it, and sums are sums."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.runtime.timings import BOUNDS, Timings, added

SECONDS = st.floats(0.0, 100.0) | st.sampled_from(BOUNDS)
SEEN = st.lists(st.tuples(st.sampled_from(["report", "tend", "COMMIT"]), SECONDS))


def told(seen: list[tuple[str, float]]) -> dict[str, list[float]]:
    timings = Timings()
    for name, seconds in seen:
        timings.saw(name, seconds)
    return timings.observations()


@given(SEEN)
def test_each_is_counted_once_where_it_belongs(seen: list[tuple[str, float]]) -> None:
    found = told(seen)
    assert found.keys() == {name for name, _ in seen}
    for name, (*counts, total) in found.items():
        own = [seconds for other, seconds in seen if other == name]
        for place, bound in enumerate(BOUNDS):
            assert sum(counts[: place + 1]) == sum(seconds <= bound for seconds in own)
        assert sum(counts) == len(own)
        assert abs(total - sum(own)) < 1e-6


@given(st.lists(SEEN, max_size=4))
def test_what_several_have_seen_is_what_one_would_have(parts: list[list[tuple[str, float]]]) -> None:
    together, one = added(map(told, parts)), told([each for part in parts for each in part])
    assert together.keys() == one.keys()
    for name in one:
        assert together[name][:-1] == one[name][:-1]
        assert abs(together[name][-1] - one[name][-1]) < 1e-6


def test_what_was_told_stays_as_it_is() -> None:
    timings = Timings()
    timings.saw("tend", 0.5)
    before = timings.observations()
    timings.saw("tend", 0.5)
    assert sum(before["tend"][:-1]) == 1
    assert added([before, before])["tend"][-1] == 1.0
    assert before["tend"][-1] == 0.5
