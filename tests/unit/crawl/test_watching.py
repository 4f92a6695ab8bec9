"""Sites that block are recognised from their answers, in time, and each is named once."""

from __future__ import annotations

import pytest

from graphbrain import Answer, Failed, Fetched
from graphbrain.crawl import closing
from graphbrain.crawl.watching import PATIENCE, REFUSALS, REFUSING, CrawlWatch


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize("status", REFUSING)
def test_a_site_that_refuses_all_is_named_once_and_within_a_minute(clock: Clock, status: int) -> None:
    watch = CrawlWatch(clock)
    watch.answered("a.example", status, None, 0)
    assert not list(watch.blocking())
    clock.now += PATIENCE + 1
    (said,) = watch.blocking()
    assert "a.example blocks" in said and str(status) in said and PATIENCE < 60
    assert not list(watch.blocking())


def test_many_refusals_need_no_waiting(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    for _ in range(REFUSALS):
        watch.answered("a.example", 403, None, 0)
    assert len(list(watch.blocking())) == 1


def test_a_site_that_begins_to_refuse_is_named(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    for _ in range(50):
        watch.answered("a.example", 200, 0.1, 10)
    for _ in range(4 * REFUSALS):
        watch.answered("a.example", 429, None, 0)
    (said,) = watch.blocking()
    assert "began to block" in said


def test_a_site_with_some_refusals_is_well(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    for status in (403, 200, 403, 403, 404, 200, 500, 403):
        watch.answered("a.example", status, 0.1, 10)
        clock.now += PATIENCE
    assert not list(watch.blocking()) and not list(watch.ends_walled())


LOGIN = "http://a.example/login"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_login_wall_is_named_by_whatever_redirect_it_is_reached(clock: Clock, status: int) -> None:
    """The login is a page of its own."""
    watch = CrawlWatch(clock)
    for _ in range(3):
        watch.answered("a.example", status, None, 0, address=LOGIN)
    watch.answered("a.example", 200, 0.1, 10, address=LOGIN, form=True)
    (said,) = watch.blocking()
    assert LOGIN in said and "--cookies" in said
    assert watch.hosts["a.example"].useful() == 0


def test_pages_with_a_password_field_of_their_own_are_pages(clock: Clock) -> None:
    """A form in the head of each page, as forums have it, is no login wall; nor are a few members' pages."""
    watch = CrawlWatch(clock)
    for number in range(30):
        watch.answered("a.example", 200, 0.1, 10, address=f"http://a.example/{number}", form=True)
    watch.answered("a.example", 302, None, 0, address=LOGIN)
    clock.now += 2 * PATIENCE
    assert not list(watch.blocking()) and not list(watch.ends_walled())
    assert watch.hosts["a.example"].useful() == 30


def test_a_host_that_does_not_answer_is_named(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    watch.silent("a.example", "DownloadConnectionRefusedError: Connection was refused")
    watch.silent("b.example", "StrangeError: 17")
    watch.answered("b.example", 200, 0.1, 10)
    clock.now += PATIENCE + 1
    (said,) = watch.blocking()
    assert "a.example does not answer" in said and "refuses connections" in said


def test_a_site_that_goes_silent_amid_a_crawl_is_named(clock: Clock) -> None:
    """Its requests become rare then: few of them, and time, are enough."""
    watch = CrawlWatch(clock)
    for _ in range(500):
        watch.answered("a.example", 200, 0.1, 10)
    for _ in range(REFUSALS):
        assert not list(watch.blocking())
        watch.silent("a.example", "DownloadTimeoutError: it took too long")
        clock.now += PATIENCE / 4
    (said,) = watch.blocking()
    assert "in time" in said


def test_of_a_short_crawl_it_is_said_at_the_end(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    watch.answered("a.example", 401, None, 0)
    watch.answered("b.example", 302, None, 0, address="http://b.example/login")
    watch.answered("b.example", 200, 0.1, 10, address="http://b.example/login", form=True)
    watch.answered("c.example", 200, 0.1, 10)
    assert [said.split()[0] for said in watch.ends_walled()] == ["a.example", "b.example"]


def test_what_is_reported_is_counted(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    reports: list[Fetched | Failed] = [
        Fetched("http://a.example/"),
        Failed("http://a.example/x", status=404),
        Failed("http://a.example/y"),
        Fetched("http://a.example/z", status=301, redirected_to="http://a.example/z"),
    ]
    answers = [
        Answer("http://a.example/", True, outcome="new"),
        Answer("http://a.example/x", True, outcome="retry"),
        Answer("http://a.example/y", True, outcome="retry"),
        Answer("http://a.example/z", True, outcome="retry"),
    ]
    clock.now += 10
    watch.reported(reports, answers)
    assert watch.fetched == 1
    assert watch.failures() == {"redirect to itself or to no page": 1, "404": 1, "no answer": 1}
    assert watch.rate() == pytest.approx(0.1)
    clock.now += 61
    assert watch.rate() == 0


def test_memory_of_a_long_crawl_is_bounded(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    for number in range(20_000):
        watch.answered(f"h{number}.example", 200, 0.1, 10)
        watch.leave_out(f"http://h.example/{number % 7}", "files")
    assert len(watch.hosts) == 10_000 and watch.left_out == {"files": 7}


@pytest.mark.parametrize("error", ["CannotResolveHostError", "DownloadConnectionRefusedError", "DownloadTimeoutError"])
def test_a_name_that_is_not_known_is_named_at_once(clock: Clock, error: str) -> None:
    """Waiting brings no name; of other silences it may be the first."""
    watch = CrawlWatch(clock)
    watch.silent("a.example", f"{error}: a.example")
    assert bool([*watch.blocking()]) == (error == "CannotResolveHostError")


def test_pages_are_counted_once_and_redirects_are_none(clock: Clock) -> None:
    watch = CrawlWatch(clock)
    pages = [Fetched("http://a.example/"), Fetched("http://a.example/"), Fetched("http://a.example/x")]
    moved = Fetched("http://a.example/y", status=302, redirected_to="http://a.example/x")
    outcomes = ["new", "same", "new", "new"]
    reports = [*pages, moved]
    watch.reported(reports, [Answer(r.url, True, outcome=o) for r, o in zip(reports, outcomes, strict=True)])
    watch.again += 1
    rows = dict(closing.lines(watch, 1.0, closing.CrawlEnd({}, 3, 0, (0, 0), 0), []))
    assert rows["fetched"].startswith("2 pages in 3 visits") and "1 led elsewhere for now" in rows["fetched"]
    assert rows["changed"].startswith("2 new, 0 changed, 1 as before")


def test_a_page_that_redirects_is_counted_once_and_only_while_it_does(clock: Clock) -> None:
    watch = CrawlWatch(clock)

    def visit(url: str, outcome: str, to: str | None = None) -> str:
        report = Fetched(url, status=301 if outcome == "alias" else 302 if to else 200, redirected_to=to)
        watch.reported([report], [Answer(url, True, outcome=outcome)])
        return dict(closing.lines(watch, 1.0, closing.CrawlEnd({}, 3, 0, (0, 0), 0), []))["fetched"]

    old, now = "http://a.example/old", "http://a.example/now"
    visit(old, "alias", "http://a.example/")
    visit(now, "new", "http://a.example/")
    assert "1 moved for good, 1 led elsewhere for now" in visit(old, "alias", "http://a.example/")
    assert visit(now, "alias", "http://a.example/").endswith("2 moved for good")
    assert visit(old, "changed").endswith("1 moved for good"), "it has a page of its own now"
    assert watch.outcomes == {"alias": 3, "led": 1, "changed": 1}, "visits"


def test_a_page_that_fails_is_counted_once_and_only_while_it_does(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = CrawlWatch(clock)

    def visit(url: str, outcome: str, status: int) -> str:
        report = Fetched(url, status=status) if status == 200 else Failed(url, status=status)
        watch.reported([report], [Answer(url, True, outcome=outcome)])
        return dict(closing.lines(watch, 1.0, closing.CrawlEnd({}, 3, 0, (0, 0), 0), []))["fetched"]

    busy, missing = "http://a.example/busy", "http://a.example/missing"
    visit(busy, "slowed", 503)
    assert visit(busy, "retry", 500).endswith("failed: 500 ×1")
    visit(missing, "retry", 404)
    assert visit(missing, "gone", 404).endswith("failed: 500 ×1, 404 ×1")
    assert visit(busy, "new", 200).endswith("failed: 404 ×1"), "it answers now"
    monkeypatch.setattr("graphbrain.crawl.watching.MOST_LAST_VISITS", 1)
    for number in range(2):
        last = visit(f"http://a.example/{number}", "retry", 404)
    assert last.endswith("failed: 404 ×3"), "beyond the memory each visit counts"


def test_a_crawl_that_got_nothing_but_a_form_names_it(clock: Clock) -> None:
    """A session that had ended before the first page leaves one form in place of a site; a few pages do not."""
    watch = CrawlWatch(clock)
    watch.answered("a.example", 200, 0.1, 10, address="http://a.example/", form=True)
    (said,) = watch.ends_walled()
    assert "its only page asks for a password (http://a.example/)" in said and "--login" in said
    watch.answered("a.example", 200, 0.1, 10, address="http://a.example/1")
    assert not list(watch.ends_walled())
