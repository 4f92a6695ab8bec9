"""How often a brain is scanned: as its scans allow, and not as its slowest one would have it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from graphbrain.analyst.inspect.figures import Quick, Scanned
from graphbrain.service.metrics.sampling import SCAN_ANYWAY, SCAN_EVERY, SCAN_SHARE, SCANS, Sample, Sampler


@given(st.lists(st.floats(0.0, 1_000.0), min_size=1, max_size=20))
def test_a_scan_is_as_old_as_the_quickest_of_the_last_ones_asks(takes: list[float]) -> None:
    sampler = Sampler(None)  # type: ignore[arg-type]
    for place, took in enumerate(takes):
        rest = sampler.rest(took)
        assert SCAN_EVERY <= rest <= SCAN_ANYWAY
        quickest = min(takes[max(0, place - SCANS + 1) : place + 1])
        assert rest == max(SCAN_EVERY, min(quickest / SCAN_SHARE, SCAN_ANYWAY))


def test_one_slow_scan_does_not_count() -> None:
    sampler = Sampler(None)  # type: ignore[arg-type]
    assert [sampler.rest(took) for took in (0.5, 27.0, 0.5)] == [60.0] * 3


def test_a_brain_that_has_doubled_is_scanned_anew() -> None:
    sampler = Sampler(None)  # type: ignore[arg-type]
    pages = Quick(held={}, pages=3, links=0, leases=0, lapsed=0, tending=0, active=0)
    assert not sampler.outgrown(), "nothing was sampled yet"
    sampler.latest = Sample(quick=pages, scanned=Scanned(states={"frontier": 2, "known": 1}))
    assert not sampler.outgrown()
    sampler.latest = replace(sampler.latest, quick=replace(pages, pages=5))
    assert not sampler.outgrown()
    sampler.latest = replace(sampler.latest, quick=replace(pages, pages=6))
    assert sampler.outgrown()
