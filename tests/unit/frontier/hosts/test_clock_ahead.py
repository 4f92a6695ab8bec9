"""Times that a clock wrote which was ahead: events count as now, and what was reckoned from them is reckoned anew."""

from __future__ import annotations

from graphbrain.base.runtime import tokens
from graphbrain.frontier.hosts import clock_ahead

NOW, DAY = 1_700_000_000.0, 86_400.0
SPANS = clock_ahead.Spans(300.0, 3 * DAY)
PAGE = dict.fromkeys(
    (*clock_ahead.EVENTS, *clock_ahead.HISTORIES, "waiting_since", "lane", "not_before", "recheck_at", "lease",
     "lease_until", "state", "fault", "parked_because", "last_lease")
)  # fmt: skip


def page(**known: object) -> dict[str, object]:
    return clock_ahead.of_page({**PAGE, **known}, NOW, SPANS)


def test_an_event_in_the_future_counts_as_now_and_one_that_may_be_none_stays() -> None:
    assert clock_ahead.event(NOW + DAY, NOW) == NOW
    assert clock_ahead.event(NOW + 1.0, NOW) == NOW + 1.0, "clocks differ by so little"
    assert clock_ahead.event(NOW - DAY, NOW) == NOW - DAY


def test_what_was_reckoned_from_it_comes_as_long_after_now() -> None:
    assert clock_ahead.reckoned(NOW + DAY + 60.0, NOW + DAY, NOW) == NOW + 60.0
    assert clock_ahead.reckoned(NOW + DAY, NOW - 1.0, NOW) == NOW + DAY
    assert clock_ahead.reckoned(NOW + DAY, None, NOW) == NOW + DAY


def test_a_page_that_nothing_is_wrong_with_is_left_alone() -> None:
    assert page() == {}
    assert page(fetched=NOW - 1.0, waiting_since=NOW - 1.0, lane=5, not_before=NOW + DAY, failed=NOW) == {}


def test_the_times_of_a_page_are_put_right() -> None:
    token = tokens.token(NOW + DAY)
    assert page(waiting_since=NOW + DAY, lane=5) == {"waiting_since": NOW}
    assert page(fetched=NOW + DAY, waiting_since=NOW + DAY, lane=5) == {"fetched": NOW, "waiting_since": NOW}
    assert page(failed=NOW + DAY, not_before=NOW + DAY + 300.0) == {"failed": NOW, "not_before": NOW + 300.0}
    assert page(lease=token, lease_until=NOW + DAY + 300.0)["lease_until"] - NOW - 300.0 < 0.002  # type: ignore[operator]
    assert page(fetched=NOW + DAY, recheck_at=NOW + 2 * DAY) == {"fetched": NOW, "recheck_at": NOW + DAY}


def test_a_wish_stays_and_an_interval_is_reckoned_anew() -> None:
    assert page(waiting_since=NOW + DAY, lane=0) == {}
    assert page(fetched=NOW + DAY, waiting_since=NOW + DAY + 3_600.0, lane=0)["waiting_since"] == NOW + 3_600.0


def test_what_was_put_right_once_stays_right() -> None:
    """A pass over the pages may come again at any time: a lease that is put right must not lapse earlier by it."""
    token = tokens.token(NOW + DAY)
    known = {
        "lease": token,
        "lease_until": NOW + DAY + 300.0,
        "waiting_since": NOW + DAY,
        "lane": 9,
        "fetched": NOW + DAY,
        "failed": NOW + DAY + 1.0,
        "not_before": NOW + DAY + 61.0,
        "recheck_at": NOW + 9 * DAY,
    }
    once = {**known, **page(**known)}
    assert once["lease_until"] == NOW + 300.0
    for later in (0.0, 1.0, 100.0, 299.0):
        assert clock_ahead.of_page({**PAGE, **once}, NOW + later, SPANS) == {}, later


def test_the_wait_of_a_page_that_was_not_sent_is_put_right() -> None:
    """Such a try leaves no time but that of its token."""
    token = tokens.token(NOW + DAY)
    for failed in (None, NOW - 700.0):
        waits = {"failing_since": NOW - 600.0, "fault": "not_sent", "failed": failed, "last_lease": token}
        assert page(**waits, state="frontier", not_before=NOW + 2 * DAY)["not_before"] == NOW + 600.0
        assert page(**waits, state="frontier", not_before=NOW + 300.0) == {}


def test_a_page_is_not_parked_for_days_in_which_the_clock_was_ahead() -> None:
    failing = {"failed": NOW + 9 * DAY, "failing_since": NOW - 600.0, "fault": "silent", "state": "parked"}
    parked = page(**failing, recheck_at=NOW + 18 * DAY)
    assert (parked["state"], parked["not_before"], parked["recheck_at"]) == ("frontier", NOW + 600.0, None)
    assert page(**failing, recheck_at=NOW + 18 * DAY, first_fetched=NOW - DAY)["state"] == "known"
    by_hand = page(**failing, parked_because="orphan")
    assert "state" not in by_hand
    waiting = {**failing, "state": "frontier"}
    assert page(**waiting, not_before=NOW + 18 * DAY)["not_before"] == NOW + 600.0
