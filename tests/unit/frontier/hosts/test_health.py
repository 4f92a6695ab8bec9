"""The model of health: kinds of attempts, waits, and whose fault a failure is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.frontier.hosts import health, politeness
from graphbrain.frontier.hosts.politeness import HostEffects
from graphbrain.frontier.hosts.state import COLUMNS, FAILING_COLUMNS, HostRequest, HostState, PolitenessPolicy

NOW, MINUTE, HOUR, DAY = 1_700_000_000.0, 60.0, 3_600.0, 86_400.0


def host(**stored: Any) -> HostState:
    return HostState(
        {**dict.fromkeys((*COLUMNS, *FAILING_COLUMNS)), "name": "a.org", **stored}, PolitenessPolicy(dead_after=3)
    )


def end(state: HostState, now: float, *requests: HostRequest, well_at: float | None = None) -> None:
    ends = HostEffects(failures=list(requests))
    if well_at is not None:
        ends.well(well_at, well_at)
    politeness._end(state, ends, now)


def silent(at: float, **more: Any) -> HostRequest:
    return HostRequest(at, True, kind="silent", ended=at + 1.0, **more)


@pytest.mark.parametrize(
    ("status", "fault", "kind"),
    [
        (None, None, "silent"),
        (None, "silent", "silent"),
        (None, "not_sent", "none"),
        (None, "not_understood", "none"),
        (200, None, "well"),
        (301, None, "well"),
        (404, None, "well"),
        (410, "silent", "well"),
        (408, None, "broken"),
        (421, None, "broken"),
        (500, "not_sent", "broken"),
        (599, None, "broken"),
        (429, None, "refused"),
        (503, None, "refused"),
    ],
)
def test_kinds(status: int | None, fault: str | None, kind: str) -> None:
    assert health.kind_of(status, fault) == kind


@given(st.floats(0, 10_000 * DAY))
def test_waits_are_bounded_and_follow_the_time_of_failing(failing: float) -> None:
    assert 0.75 * MINUTE <= health.page_wait(failing) <= 1.25 * max(MINUTE, min(failing, 28 * DAY))
    assert 15.0 <= health.probe_wait(failing) <= max(15.0, min(failing / 6, DAY))
    assert 0.75 * 3 * DAY <= health.look_wait(failing) <= 1.25 * max(3 * DAY, min(failing, 180 * DAY))


def test_missing_pages_wait_for_days() -> None:
    assert [health.missing_wait(errors) / DAY for errors in (1, 2, 3, 4, 99)] == [1, 4, 16, 64, 180]


def test_three_events_without_a_well_one_make_a_host_ill_and_one_well_attempt_ends_that() -> None:
    state = host()
    for number in range(3):
        assert not state.ill()
        now = NOW + number * MINUTE
        end(state, now, silent(now - 1.0))
    assert state.ill() and state.failing_since == NOW
    assert state.probe_at == NOW + 2 * MINUTE + 2 * MINUTE / 6
    end(state, NOW + HOUR, well_at=NOW + HOUR)
    assert not state.doubted() and state.probe_at == 0.0


def test_requests_that_were_under_way_together_are_one_event() -> None:
    state = host()
    end(state, NOW, silent(NOW - 9.0), silent(NOW - 8.0))
    end(state, NOW + 1.0, silent(NOW - 7.0))
    assert state.failing == 1
    end(state, NOW + 2.0, silent(NOW + 0.5))
    assert state.failing == 2


@pytest.mark.parametrize("kind", ["silent", "broken", "refused"])
def test_a_page_that_failed_before_while_others_were_well_is_to_blame(kind: health.Kind) -> None:
    state = host(well_at=NOW - 10.0)
    again = HostRequest(NOW - 1.0, True, kind=kind, ended=NOW, failed_before=NOW - MINUTE)
    assert state.is_own_fault(again)
    end(state, NOW, again)
    assert (state.failing, state.errors, state.pace) == (0, 0, 1.0)
    first = HostRequest(NOW - 1.0, True, kind=kind, ended=NOW)
    earlier = HostRequest(NOW - 1.0, True, kind=kind, ended=NOW, failed_before=NOW - 5.0)
    assert not state.is_own_fault(first) and not state.is_own_fault(earlier)
    end(state, NOW, first)
    assert state.failing == 1


def test_a_page_that_was_to_blame_stays_so() -> None:
    state = host()
    end(state, NOW, silent(NOW - 1.0, failed_before=NOW - 5.0, known_ill=True))
    assert not state.doubted()


def test_failures_before_a_well_attempt_of_the_same_batch_are_not_the_hosts() -> None:
    state = host()
    end(state, NOW, silent(NOW - 20.0), well_at=NOW - 5.0)
    assert not state.doubted()
    end(state, NOW, HostRequest(NOW - 20.0, True, kind="silent", ended=NOW - 1.0), well_at=NOW - 5.0)
    assert state.failing == 1


def test_a_well_attempt_from_before_the_last_failure_heals_nothing() -> None:
    state = host(failing=2, failing_at=NOW, failing_since=NOW - MINUTE, illness="silent", unanswered=2)
    end(state, NOW + 1.0, well_at=NOW - 1.0)
    assert state.failing == 2


def test_what_says_nothing_of_the_host_leaves_it_ill_and_puts_the_next_probe_off() -> None:
    state = host(failing=3, failing_at=NOW, failing_since=NOW - MINUTE, illness="broken", probe_at=NOW)
    politeness._end(state, HostEffects(inconclusive=True), NOW + 1.0)
    assert state.ill() and state.probe_at == NOW + 1.0 + 15.0


def test_refusals_among_well_answers_block_for_a_short_time_and_slow_down_to_an_eighth_at_most() -> None:
    state = host(delay=1.0)
    for number in range(8):
        now = NOW + number * MINUTE
        end(state, now, well_at=now)
        end(state, now + 1.0, HostRequest(now + 0.5, True, kind="refused", ended=now + 1.0))
        assert state.blocked_until == now + 1.0 + 10.0
        answered = HostEffects(successes=politeness.Counter({"no token": 1}))
        answered.well(now + 30.0, now + 30.0)
        politeness._end(state, answered, now + 30.0)
    assert state.pace >= 1 / 8


def refused_in_a_row(state: HostState, count: int) -> list[float]:
    """Seconds for which each of so many refusals blocks the host, each asked for when the block before is over."""
    now, blocks = NOW, []
    for _ in range(count):
        end(state, now, HostRequest(now - 0.5, True, kind="refused", ended=now))
        blocks.append(state.blocked_until - now)
        now = state.blocked_until + 1.0
    return blocks


def test_refusals_and_nothing_else_double_the_block_where_all_pages_have_been_tried() -> None:
    assert refused_in_a_row(host(tried_all=True), 4) == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]


def test_nine_pages_that_always_refuse_keep_the_others_of_their_host_waiting_for_minutes() -> None:
    blocks = refused_in_a_row(host(), 9)
    assert blocks[:6] == [MINUTE] * 6 and blocks == sorted(blocks) and sum(blocks) < 12 * MINUTE


def test_a_page_that_alone_refuses_gives_back_what_its_first_refusal_took() -> None:
    state = host(delay=1.0, pace=0.5, well_at=NOW - 1.0, slowed_at=NOW - MINUTE)
    end(state, NOW, HostRequest(NOW - 0.5, True, kind="refused", ended=NOW, failed_before=NOW - MINUTE))
    assert (state.pace, state.blocked_until) == (1.0, 0.0)
    end(state, NOW, HostRequest(NOW - 0.5, True, 90.0, "refused", NOW, NOW - MINUTE))
    assert state.blocked_until == NOW + 90.0, "a Retry-After is obeyed whoever is to blame"


def test_one_claim_in_ten_may_be_a_retry_while_others_wait() -> None:
    state = host()
    state.file_retry(NOW)
    turns = []
    for _ in range(40):
        retry = state.retries_next()
        turns.append(retry)
        state.grant(NOW, False, retry=retry)
        state.in_flight = 0
    assert sum(turns) == 4 and turns[9] and turns[19]


def test_a_stop_of_the_crawl_is_no_illness_of_the_host() -> None:
    """One refusal, ten days in which nobody asks, another: the host is not left alone for a day."""
    state = host()
    end(state, NOW, HostRequest(NOW, True, kind="refused"))
    later = NOW + 10 * DAY
    state = host(**state.changes(NOW))
    end(state, later, HostRequest(later, True, kind="refused"))
    assert state.failing == 2
    assert state.failing_for(later) <= 10 * MINUTE
    assert state.blocked_until <= later + 10 * MINUTE


def test_a_stretch_in_which_somebody_asks_counts_whole() -> None:
    state, at = host(), NOW
    while at < NOW + 3 * DAY:
        end(state, at, silent(at))
        at = max(at + MINUTE, state.probe_at)
    assert state.failing_since == NOW


def test_a_crawl_waits_for_ill_hosts_while_probes_are_fast_and_a_share_of_its_own_time() -> None:
    """It meets several probes of a host that has just failed, and no wait takes most of a crawl."""
    assert health.crawl_patience(0.0) >= 3 * health.probe_wait(0.0)
    assert health.probe_wait(health.crawl_patience(0.0)) == health.FIRST_PROBE
    for hours in (1, 10, 100):
        assert health.crawl_patience(hours * 3_600.0) <= hours * 3_600.0 / 3
