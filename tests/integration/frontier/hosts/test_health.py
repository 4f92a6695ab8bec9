"""Health: whose fault a failure is, where pages wait that have failed, when they are given up and looked at again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from tests.integration.conftest import START, HandClock

MakeBrain = Callable[..., Brain]
A = "a.org"
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
ORDERS = ["optimal", "best_first", "breadth_first"]
Ask = Callable[..., list[list[object]]]


def page(name: object) -> str:
    return f"http://{A}/{name}"


def crawl(brain: Brain, clock: HandClock, until: float, most: int = 3_000) -> Iterator[Claim]:
    """The claims that are handed out one by one until then, as soon as they can be."""
    for _ in range(most):
        claims = brain.next_urls(1)
        if claims:
            yield claims[0]
        elif claims.next_ready is None or claims.next_ready >= until:
            clock.at = until
            return
        else:
            clock.at = max(claims.next_ready, clock.at + 0.01)
    raise AssertionError("it does not end")


def found(brain: Brain, names: list[str]) -> None:
    """A page that links to these, in their order, is fetched."""
    brain.seed([f"http://{A}/"])
    (claim,) = brain.next_urls(1)
    brain.report([Fetched(claim.url, [page(name) for name in names], claim)])


def failure(claim: Claim, how: str) -> Failed:
    """A failed visit of this kind."""
    status = {"refused": 503, "limited": 429, "broken": 500}.get(how)
    fault = how if how in ("not_sent", "not_understood") else None
    return Failed(claim.url, claim, status, error="" if status else how, fault=fault)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("how", ["silent", "refused", "limited", "broken", "not_sent", "not_understood"])
def test_ill_pages_in_front_of_good_ones_do_not_keep_them_waiting(
    make_brain: MakeBrain, clock: HandClock, order: str, how: str
) -> None:
    random.seed(f"{order} {how}")  # the brain's own dice: one in some hundred throws makes a crawl twice as long
    brain = make_brain(order=order, delay_seconds=1.0)
    good = [f"good{n}" for n in range(15)]
    found(brain, [*(f"ill{n}" for n in range(9)), *good])
    left, began = {page(name) for name in good}, clock.at
    for claim in crawl(brain, clock, clock.at + DAY):
        if "/ill" in claim.url:
            clock.pass_(5.0 if how == "silent" else 0.1)
            brain.report([failure(claim, how)])
        else:
            left.discard(claim.url)
            brain.report([Fetched(claim.url, [], claim)])
        if not left:
            break
    assert not left
    # A refusal also slows the host down, until it is known whose fault it was.
    slowed = 5 * MINUTE if how in ("refused", "limited") else 0.0
    assert clock.at - began < 10 * 25 * 1.0 + 2 * MINUTE + slowed


def test_pages_that_failed_get_a_tenth_of_the_claims_while_others_wait_the_longest_untried_first(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    brain = make_brain(order="best_first", delay_seconds=1.0, max_errors=1_000)
    found(brain, [*(f"ill{n}" for n in range(4)), *(f"good{n}" for n in range(300))])
    log: list[str] = []
    for claim in crawl(brain, clock, clock.at + HOUR):
        ill = "/ill" in claim.url
        log.append(claim.url if ill else "")
        brain.report([failure(claim, "broken") if ill else Fetched(claim.url, [], claim)])
        if log.count("") == 290:
            break
    tries = [url for url in log if url]
    assert len(set(tries[:4])) == 4
    assert 4 <= len(tries) - 4 <= len(log) / 10
    assert set(tries[4:8]) == set(tries[:4])  # their waits vary by a quarter


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("how", ["broken", "refused", "silent"])
def test_a_host_that_fails_for_an_evening_loses_no_page(
    make_brain: MakeBrain, clock: HandClock, order: str, how: str
) -> None:
    brain = make_brain(order=order, delay_seconds=1.0, max_errors=2, revisit_seconds=30 * DAY)
    found(brain, [str(n) for n in range(6)])
    over = clock.at + 3 * HOUR
    for claim in crawl(brain, clock, over):
        brain.report([failure(claim, how)])
    assert [brain.page(page(n)).state for n in range(6)] == ["frontier"] * 6
    assert max(brain.page(page(n)).errors for n in range(6)) <= 1
    host = brain.host(A)
    assert (host.illness, host.failing_since is not None) == (how, True)
    left = {page(n) for n in range(6)}
    for claim in crawl(brain, clock, over + 8 * HOUR):
        left.discard(claim.url)
        brain.report([Fetched(claim.url, [], claim)])
        if not left:
            break
    assert not left
    assert clock.at - over < 7 * HOUR


@pytest.mark.parametrize("order", ORDERS)
def test_what_failed_while_its_host_was_ill_is_no_fault_of_the_pages(
    make_brain: MakeBrain, clock: HandClock, order: str
) -> None:
    """After an evening of silence the host answers some pages and refuses others, for it is asked too fast: these wait
    minutes, not as long as the evening, and the host is slowed down."""
    brain = make_brain(order=order, delay_seconds=1.0, revisit_seconds=30 * DAY)
    found(brain, [str(n) for n in range(12)])
    over = clock.at + 3 * HOUR
    for claim in crawl(brain, clock, over):
        brain.report([failure(claim, "silent")])
    left, refused = {page(n) for n in range(12)}, dict[str, float]()
    for claim in crawl(brain, clock, over + 8 * HOUR):
        if len(left) <= 6 and len(refused) < 4 and claim.url not in refused:
            refused[claim.url] = clock.at
            brain.report([failure(claim, "limited")])
            assert brain.host(A).complaints > 0
            assert (brain.page(claim.url).failing_since or 0.0) >= over
            continue
        if claim.url in refused:
            assert clock.at - refused.pop(claim.url) < 15 * MINUTE
        left.discard(claim.url)
        brain.report([Fetched(claim.url, [], claim)])
        if not left:
            break
    assert not left


def test_an_answer_to_an_older_request_does_not_blame_a_page_that_failed_meanwhile(
    make_brain: MakeBrain, clock: HandClock
) -> None:
    """The host had begun to answer before its outage: that one page fails and another is well says nothing of pages."""
    brain = make_brain(delay_seconds=1.0)
    found(brain, ["slow", "quick"])
    clock.pass_(1.0)
    (slow,) = brain.next_urls(1)
    clock.pass_(1.0)
    (quick,) = brain.next_urls(1)
    clock.pass_(0.5)
    brain.report([Failed(quick.url, quick, 502)])
    clock.pass_(5.0)
    brain.report([Fetched(slow.url, [], slow)])
    began, last = clock.at, clock.at
    for claim in crawl(brain, clock, began + 12 * HOUR):
        assert clock.at - last <= (last - began) / 3 + 5 * MINUTE
        last = clock.at
        brain.report([Failed(claim.url, claim, 502)])
    assert last - began > 8 * HOUR
    clock.at = last + (last - began) / 3
    assert [claim.url for claim in brain.next_urls(1)] == [quick.url]


def test_a_page_that_was_ill_before_its_host_stays_to_blame(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(order="best_first", delay_seconds=1.0, revisit_seconds=30 * DAY)
    found(brain, ["ill", *(str(n) for n in range(20))])
    began, outage = clock.at, (clock.at + HOUR, clock.at + 2 * HOUR)
    for n, claim in enumerate(crawl(brain, clock, clock.at + 3 * HOUR)):
        silent = outage[0] <= clock.at < outage[1]
        if claim.url == page("ill") or silent:
            brain.report([failure(claim, "silent" if silent else "broken")])
        else:
            brain.report([Fetched(claim.url, [page(f"more{n}")] if n < 300 else [], claim)])
    ill = brain.page(page("ill"))
    assert ill.errors >= 2
    assert (ill.failing_since or 0.0) < began + HOUR


@pytest.mark.parametrize("order", ORDERS)
def test_a_host_that_was_silent_and_now_answers_is_ill_anew(
    make_brain: MakeBrain, clock: HandClock, order: str
) -> None:
    """After a night without an answer it answers: of its pages most are broken, and these cost the others minutes."""
    dice = random.Random(order)  # each refusal doubles the block: nine of them would take hours
    brain = make_brain(order=order, delay_seconds=1.0, revisit_seconds=30 * DAY)
    found(brain, [*(f"ill{n}" for n in range(9)), "good"])
    over = clock.at + 10 * HOUR
    for claim in crawl(brain, clock, over):
        brain.report([failure(claim, "silent")])
    first: float | None = None
    for claim in crawl(brain, clock, over + 20 * HOUR):
        first = clock.at if first is None else first
        if claim.url == page("good"):
            break
        brain.report([failure(claim, dice.choice(["broken", "refused"]))])
    assert first is not None
    assert clock.at - first < HOUR


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ending", ["given back", "lapsed"])
def test_a_page_that_was_never_sent_comes_back_when_its_claim_ends_without_a_visit(
    make_brain: MakeBrain, clock: HandClock, order: str, ending: str
) -> None:
    brain = make_brain(order=order, delay_seconds=1.0)
    brain.seed([page(name="seed")])
    (claim,) = brain.next_urls(1)
    brain.report([failure(claim, "not_sent")])
    claim = next(crawl(brain, clock, clock.at + DAY))
    if ending == "given back":
        assert brain.give_back([claim]) == [True]
    else:
        clock.at = claim.until + 1.0
    again = next(crawl(brain, clock, clock.at + DAY))
    assert again.url == claim.url and brain.report([Fetched(again.url, [], again)])[0].accepted


def test_pages_of_an_ill_host_that_are_not_due_are_not_called_ready(make_brain: MakeBrain, clock: HandClock) -> None:
    """Pages that failed in a visit before they were due wait for that: no caller is sent in vain."""
    brain = make_brain(order="optimal", delay_seconds=1.0, revisit_seconds=10 * DAY)
    urls = [page(n) for n in range(12)]
    brain.seed(urls)
    for claim in crawl(brain, clock, clock.at + HOUR):
        brain.report([Fetched(claim.url, [], claim)])
    # Visits that nobody had asked the brain for.
    for _ in range(2):
        for url in urls:
            clock.pass_(10.0)
            brain.report([Failed(url, None, 500)])
    assert brain.host(A).failing_since is not None
    calls = 0
    for _ in crawl(brain, clock, clock.at + 8 * DAY, most=30):
        calls += 1
    assert calls == 0


def test_the_shared_queue_is_ready_when_the_hosts_of_its_pages_are(make_brain: MakeBrain, clock: HandClock) -> None:
    """Pages of one slow host become due one after another: a caller is sent when the host may be asked again."""
    brain = make_brain(order="optimal", revisit_seconds=DAY)
    urls = [page(n) for n in range(12)]
    brain.seed(urls)
    for _ in urls:
        (claim,) = brain.next_urls(1)
        brain.report([Fetched(claim.url, [], claim)])
        clock.pass_(1.0)
    brain.set_host(A, delay=100.0)
    empty = 0
    for _ in range(12):
        claims = brain.next_urls(1)
        while not claims:
            empty += 1
            assert claims.next_ready is not None
            clock.at = max(clock.at, claims.next_ready)
            claims = brain.next_urls(1)
        brain.report([Fetched(claims[0].url, [], claims[0])])
    assert empty <= 13


@pytest.mark.parametrize(
    "how",
    ["broken", *(pytest.param(how, marks=pytest.mark.nightly) for how in ("refused", "silent", "not_understood"))],
)
def test_a_page_is_parked_after_enough_failures_and_days_looked_at_again_and_comes_back(
    make_brain: MakeBrain, clock: HandClock, how: str
) -> None:
    brain = make_brain(delay_seconds=1.0, order="optimal", revisit_seconds=12 * HOUR)
    found(brain, ["ill", "good"])
    answers: list[str | None] = []
    for claim in crawl(brain, clock, START + 60 * DAY):
        if not claim.url.endswith("/ill"):
            brain.report([Fetched(claim.url, [], claim)])
            continue
        (answer,) = brain.report([failure(claim, how)])
        answers.append(answer.outcome)
        if answer.outcome == "gone":
            break
    ill = brain.page(page("ill"))
    assert ill.state == "parked" and ill.errors >= 5
    assert ill.failing_since is not None and ill.failed is not None and ill.failed - ill.failing_since >= 3 * DAY
    assert ill.recheck_at is not None and 2 * DAY < ill.recheck_at - clock.at < 9 * DAY
    looked = []
    for claim in crawl(brain, clock, clock.at + 300 * DAY):  # the waits grow, and are drawn
        if claim.url != ill.url:
            brain.report([Fetched(claim.url, [], claim)])
        elif len(looked) < 3:
            looked.append(clock.at)
            brain.report([failure(claim, how)])
        else:
            brain.report([Fetched(claim.url, [], claim)])
            break
    back = brain.page(page("ill"))
    assert (back.state, back.errors, back.recheck_at, back.failing_since) == ("known", 0, None, None)
    assert looked[2] - looked[1] > looked[1] - looked[0] > 2 * DAY
    assert brain.audit().ok


def park(ask: Ask, clock: HandClock, state: str) -> None:
    """The page `ill` has failed for ten days, and was given up."""
    ask(
        "MATCH (p:Page {url: $url}) SET p.state = $state, p.queue = null, p.errors = 9, p.failed = $now - 60, "
        "p.failing_since = $now - 864000, p.recheck_at = CASE $state WHEN 'parked' THEN $now + 864000 END",
        url=page("ill"), state=state, now=clock.at,
    )  # fmt: skip


def test_a_hint_or_a_new_link_brings_a_look_at_a_parked_page_forward_once_in_each_wait(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    brain = make_brain(delay_seconds=0.0)
    found(brain, ["ill", "other", "third"])
    brain.report([Fetched(claim.url, [], claim) for claim in brain.next_urls(9) if "/ill" not in claim.url])
    clock.pass_(HOUR)
    park(ask, clock, "parked")
    assert not brain.next_urls(9)
    assert [answer.outcome for answer in brain.hint([page("ill")])] == ["moved"]
    (claim,) = brain.next_urls(9)
    assert claim.url == page("ill")
    clock.pass_(1.0)
    brain.report([failure(claim, "broken")])
    clock.pass_(HOUR)
    brain.report([Fetched(page("other"), [page("ill")])])
    (claim,) = brain.next_urls(1)
    assert claim.url == page("ill"), "a link from a page that had none"
    brain.give_back([claim])
    (claim,) = brain.next_urls(1)
    clock.pass_(1.0)
    brain.report([failure(claim, "broken")])
    clock.pass_(HOUR)
    brain.report([Fetched(page("other"), [page("ill")])])
    assert page("ill") not in [claim.url for claim in brain.next_urls(9)], "that link is no news"
    brain.report([Fetched(page("third"), [page("ill")])])
    (claim,) = [claim for claim in brain.next_urls(9) if claim.url == page("ill")]
    brain.give_back([claim])
    assert [answer.outcome for answer in brain.hint([page("ill")])] == ["noted"], "once in each wait"


def test_a_page_that_is_gone_is_looked_at_for_a_hint_and_not_for_a_link(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    brain = make_brain(delay_seconds=0.0)
    found(brain, ["ill", "other"])
    brain.report([Fetched(claim.url, [], claim) for claim in brain.next_urls(9) if "/ill" not in claim.url])
    clock.pass_(HOUR)
    park(ask, clock, "gone")
    brain.report([Fetched(page("other"), [page("ill")])])
    assert not brain.next_urls(9)
    brain.hint([page("ill")])
    (claim,) = brain.next_urls(9)
    clock.pass_(1.0)
    brain.report([Failed(claim.url, claim, 404)])
    assert brain.page(page("ill")).state == "gone"
    clock.pass_(DAY)
    brain.hint([page("ill")])
    assert page("ill") not in [claim.url for claim in brain.next_urls(9)], "at most once in three days"
    clock.pass_(3 * DAY)
    brain.hint([page("ill")])
    assert page("ill") in [claim.url for claim in brain.next_urls(9)]


def test_parked_pages_that_come_into_the_scope_are_looked_at_within_days(
    make_brain: MakeBrain, clock: HandClock, ask: Ask
) -> None:
    brain = make_brain(delay_seconds=0.0, revisit_seconds=30 * DAY)
    found(brain, ["ill", "refused"])
    park(ask, clock, "parked")
    ask(
        "MATCH (p:Page {url: $url}) SET p.state = 'parked', p.parked_because = 'by hand', p.queue = null",
        url=page("refused"),
    )
    brain.change(deny_urls="/(ill|refused)")
    assert brain.page(page("ill")).recheck_at is None
    brain.change(deny_urls="")
    clock.pass_(3 * DAY)
    assert [claim.url for claim in brain.next_urls(9)] == [page("ill")]


@pytest.mark.parametrize("how", ["broken", "refused", "silent"])
def test_no_crawl_waits_for_a_host_that_has_been_failing_for_six_hours(
    make_brain: MakeBrain, clock: HandClock, how: str
) -> None:
    brain = make_brain(delay_seconds=1.0, order="best_first")
    found(brain, [str(n) for n in range(30)])
    began = clock.at
    while not (claims := brain.next_urls(3)).finished:
        assert claims or claims.next_ready is not None
        if claims:
            clock.pass_(0.5)
            brain.report([failure(claim, how) for claim in claims])
        else:
            clock.at = max(clock.at + 0.01, claims.next_ready or 0.0)
    assert 5.9 * HOUR < clock.at - began < 14 * HOUR
    assert claims.next_ready is not None, "its probes go on"
    clock.at = claims.next_ready
    assert len(brain.next_urls(3)) == 1
    assert brain.audit().ok


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 6))])
def test_queues_of_retries_are_served_whatever_happens(make_brain: MakeBrain, clock: HandClock, seed: int) -> None:
    """Random answers, claims that are given back or lapse, settings and robots.txt that change; then all is well."""
    dice = random.Random(seed)
    brain = make_brain(order=dice.choice(ORDERS), delay_seconds=dice.choice([0.0, 1.0]), lease_seconds=60.0)
    hosts = [f"h{n}.org" for n in range(3)]
    brain.seed([f"http://{host}/{n}" for host in hosts for n in range(6)])
    out: list[Claim] = []
    for _ in range(120):
        out += brain.next_urls(dice.randrange(1, 6))
        dice.shuffle(out)
        part, out = out[:3], out[3:]
        what = dice.random()
        if what < 0.1:
            brain.give_back(part)
        elif what < 0.9:
            kinds = ["silent", "refused", "broken", "not_sent", "well", "well"]
            ways = [(claim, dice.choice(kinds)) for claim in part]
            brain.report([Fetched(c.url, [], c) if how == "well" else failure(c, how) for c, how in ways])
        if dice.random() < 0.1:
            brain.set_robots(dice.choice(hosts), dice.choice(["User-agent: *\nDisallow: /", ""]))
        if dice.random() < 0.1:
            brain.change(pages_per_host=dice.choice([0, 3]))
        clock.pass_(dice.choice([0.1, 5.0, 90.0, 700.0]))
        assert brain.audit().ok, brain.audit().findings
    brain.change(pages_per_host=0)
    for host in hosts:
        brain.set_robots(host, "")
    for claim in crawl(brain, clock, clock.at + 8 * DAY):
        brain.report([Fetched(claim.url, [], claim)])
    assert not [each.url for each in brain.find(fetched=False)]
