"""Pages by the minute, from samples of counters that only grow."""

from __future__ import annotations

from graphbrain.service.console.minutes import MINUTES, Minutes


def test_a_minute_has_what_was_counted_in_it() -> None:
    ring = Minutes()
    assert ring.rows() == []
    for at, pages, errors in ((0, 100, 5), (30, 110, 5), (60, 130, 6), (90, 135, 6), (120, 140, 8), (130, 141, 8)):
        ring.add(float(at), pages, errors)
    assert ring.rows() == [(0.0, 30, 1), (60.0, 10, 2), (120.0, 1, 0)]


def test_an_hour_is_kept_and_a_cleared_brain_begins_anew() -> None:
    ring = Minutes()
    for minute in range(200):
        ring.add(minute * 60.0, minute * 3, 0)
    rows = ring.rows()
    assert len(rows) == MINUTES and {pages for _, pages, _ in rows[:-1]} == {3} and rows[-1][0] == 199 * 60.0
    ring.add(200 * 60.0, 2, 0)
    assert ring.rows() == [(200 * 60.0, 0, 0)]
