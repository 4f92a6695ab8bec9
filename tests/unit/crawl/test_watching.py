"""Sites that block are recognised from their answers, in time, and each is named once."""

from __future__ import annotations

import pytest

from graphbrain import Answer, Failed, Fetched
from graphbrain.crawl.watching import PATIENCE, REFUSALS, REFUSING, Watch


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize("status", REFUSING)
def test_a_site_that_refuses_all_is_named_once_and_within_a_minute(clock: Clock, status: int) -> None:
    watch = Watch(clock)
    watch.answered("a.example", status, None, 0)
    assert not list(watch.blocking())
    clock.now += PATIENCE + 1
    (said,) = watch.blocking()
    assert "a.example blocks" in said and str(status) in said and PATIENCE < 60
    assert not list(watch.blocking())


def test_many_refusals_need_no_waiting(clock: Clock) -> None:
    watch = Watch(clock)
    for _ in range(REFUSALS):
        watch.answered("a.example", 403, None, 0)
    assert len(list(watch.blocking())) == 1


def test_a_site_that_begins_to_refuse_is_named(clock: Clock) -> None:
    watch = Watch(clock)
    for _ in range(50):
        watch.answered("a.example", 200, 0.1, 10)
    for _ in range(4 * REFUSALS):
        watch.answered("a.example", 429, None, 0)
    (said,) = watch.blocking()
    assert "began to block" in said


def test_a_site_with_some_refusals_is_well(clock: Clock) -> None:
    watch = Watch(clock)
    for status in (403, 200, 403, 403, 404, 200, 500, 403):
        watch.answered("a.example", status, 0.1, 10)
        clock.now += PATIENCE
    assert not list(watch.blocking()) and not list(watch.ends_walled())


def test_a_login_wall_is_named(clock: Clock) -> None:
    watch = Watch(clock)
    for _ in range(3):
        watch.answered("a.example", 200, 0.1, 10, login="http://a.example/login")
    (said,) = watch.blocking()
    assert "http://a.example/login" in said and "--cookies" in said


def test_of_a_short_crawl_it_is_said_at_the_end(clock: Clock) -> None:
    watch = Watch(clock)
    watch.answered("a.example", 401, None, 0)
    watch.answered("b.example", 200, 0.1, 10, login="http://b.example/login")
    watch.answered("c.example", 200, 0.1, 10)
    assert [said.split()[0] for said in watch.ends_walled()] == ["a.example", "b.example"]


def test_what_is_reported_is_counted(clock: Clock) -> None:
    watch = Watch(clock)
    reports = [Fetched("http://a.example/"), Failed("http://a.example/x", status=404), Failed("http://a.example/y")]
    answers = [
        Answer("http://a.example/", True, outcome="new"),
        Answer("http://a.example/x", True, outcome="retry"),
        Answer("http://a.example/y", True, outcome="retry"),
    ]
    clock.now += 10
    watch.reported(reports, answers)
    assert watch.fetched == 1 and watch.failed == 2 and watch.errors == {"404": 1, "no answer": 1}
    assert watch.rate() == pytest.approx(0.1)
    clock.now += 61
    assert watch.rate() == 0


def test_memory_of_a_long_crawl_is_bounded(clock: Clock) -> None:
    watch = Watch(clock)
    for number in range(20_000):
        watch.answered(f"h{number}.example", 200, 0.1, 10)
        watch.left(f"http://h.example/{number % 7}", "files")
    assert len(watch.hosts) == 10_000 and watch.left_out == {"files": 7}
