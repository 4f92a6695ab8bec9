"""robots.txt as claims: read before pages, renewed, redirected, failing; and no claim is lost or doubled."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from graphbrain import Brain, Claim, Claims, Failed, Fetched, Resource
from graphbrain.base.errors import BadInput
from graphbrain.frontier.hosts.origins import GRACE, HOLDS, RENEWED
from graphbrain.frontier.hosts.resource import MOST_REDIRECTS
from tests.integration.conftest import START, HandClock, lose_an_answer

BOTH = ("page", "robots")
TEXT = b"User-agent: *\nDisallow: /private\n"
DAY, HOUR = 86_400.0, 3_600.0

Make = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]


@pytest.fixture
def one(make_brain: Make) -> Brain:
    """A brain of one host, which is asked once a second."""
    brain = make_brain(order="breadth_first", delay_seconds=1.0)
    brain.seed(["https://a.org/", "https://a.org/private", "https://a.org/b"])
    return brain


def robots(brain: Brain, n: int = 10) -> Claim:
    """The one claim that there is, of a robots.txt."""
    (claim,) = brain.next_urls(n, kinds=BOTH)
    assert claim.kind == "robots"
    return claim


def read(brain: Brain, clock: HandClock, text: bytes | None = TEXT) -> None:
    """The robots.txt of the one host is claimed and read."""
    claim = robots(brain)
    status = 404 if text is None else 200
    assert brain.report([Resource(claim.url, claim, status, text)])[0].accepted
    clock.pass_(1.0)


def test_a_robots_txt_comes_before_the_first_page(one: Brain, clock: HandClock) -> None:
    claim = robots(one)
    assert claim.url == "https://a.org/robots.txt"
    assert claim.key == "robots:https://a.org"
    assert claim.as_dict()["kind"] == "robots"
    clock.pass_(5.0)
    assert not one.next_urls(10, kinds=BOTH)
    assert not one.next_urls(10)  # nobody has a page of a host whose robots.txt is being read
    (answer,) = one.report([Resource(claim.url, claim, 200, TEXT)])
    assert (answer.accepted, answer.outcome) == (True, "new")
    met = []
    while claims := one.next_urls(10, kinds=BOTH):
        met += [each.url for each in claims]
        one.report([Fetched(each.url, claim=each, body=each.url.encode()) for each in claims])
        clock.pass_(1.0)
    assert met == ["https://a.org/", "https://a.org/b"]
    assert one.page("https://a.org/private").outside_because == "robots"
    assert one.next_urls(1, kinds=BOTH).finished


def test_who_asks_for_no_kinds_gets_pages_alone(one: Brain, clock: HandClock, ask: Ask) -> None:
    (claim,) = one.next_urls(10)
    assert claim.kind == "page" and "kind" not in claim.as_dict()
    assert ask("MATCH (r:Resource) RETURN count(r)") == [[0]]
    clock.pass_(1.0)
    assert [each.kind for each in one.next_urls(10, kinds=("page",))] == ["page"]


def test_the_delay_of_the_host_is_kept(one: Brain, clock: HandClock) -> None:
    (page,) = one.next_urls(10)
    assert not one.next_urls(10, kinds=BOTH)
    clock.pass_(0.5)
    assert not one.next_urls(10, kinds=BOTH)
    clock.pass_(0.5)
    claim = robots(one)
    one.report([Resource(claim.url, claim, 200, b"")])
    assert not one.next_urls(10, kinds=BOTH)
    clock.pass_(1.0)
    assert [each.kind for each in one.next_urls(10, kinds=BOTH)] == ["page"]
    assert one.host("a.org").in_flight == 2
    assert page.kind == "page"


def test_many_hosts_at_once_and_as_many_claims_as_asked(make_brain: Make, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first", delay_seconds=1.0)
    brain.seed([f"http://h{n}.org/{m}" for n in range(30) for m in range(3)])
    met: set[str] = set()
    while claims := brain.next_urls(7, kinds=BOTH):
        assert len(claims) <= 7 and {claim.kind for claim in claims} == {"robots"}
        assert not met & {claim.key for claim in claims}
        met.update(claim.key for claim in claims)
        brain.report([Resource(claim.url, claim, 404) for claim in claims])
    assert len(met) == 30
    clock.pass_(1.0)
    claims = brain.next_urls(40, kinds=BOTH)
    assert 24 <= len(claims) <= 30 and {claim.kind for claim in claims} == {"page"}


def test_it_is_renewed_and_the_old_rules_go_on(one: Brain, clock: HandClock) -> None:
    read(one, clock)
    (page,) = one.next_urls(10, kinds=BOTH)
    one.give_back([page])
    clock.pass_(RENEWED - 2.0)
    assert [each.kind for each in one.next_urls(1, kinds=BOTH)] == ["page"]
    clock.pass_(2.0)
    claim = robots(one, 1)
    clock.pass_(1.0)
    # Whoever holds it is slow, or dead: the old text holds.
    assert [each.kind for each in one.next_urls(1, kinds=BOTH)] == ["page"]
    (answer,) = one.report([Resource(claim.url, claim, 200, TEXT)])
    assert answer.outcome == "same"
    clock.pass_(1.0)
    assert one.report([Resource(claim.url, claim, 200, TEXT)])[0].outcome == "same"  # it is told again


def test_rules_that_hold_no_longer_are_renewed_before_pages(one: Brain, clock: HandClock) -> None:
    read(one, clock)
    clock.pass_(HOLDS)
    claim = robots(one, 5)
    clock.pass_(2.0)
    assert not one.next_urls(5, kinds=BOTH)
    clock.pass_(GRACE)
    assert [each.kind for each in one.next_urls(5, kinds=BOTH)] == ["page"]  # a dead worker stalls nobody
    assert one.report([Resource(claim.url, claim, 200, b"User-agent: *\nDisallow: /")])[0].outcome == "changed"
    clock.pass_(1.0)
    assert not one.next_urls(5, kinds=BOTH)


def test_a_worker_that_dies_without_rules(one: Brain, clock: HandClock) -> None:
    first = robots(one)
    clock.pass_(one.settings.lease_seconds + 1.0)
    second = robots(one)
    assert second.key == first.key and second.token != first.token
    (late,) = one.report([Resource(first.url, first, 200, TEXT)])
    assert not late.accepted and "lapsed" in late.reason
    assert one.host("a.org").in_flight == 1
    assert one.report([Resource(second.url, second, 200, TEXT)])[0].accepted
    assert one.host("a.org").in_flight == 0


def test_it_can_be_given_back_and_held_longer(one: Brain, clock: HandClock) -> None:
    first = robots(one)
    (longer,) = one.renew([first], 1_000.0)
    assert longer is not None and longer.until == clock.at + 1_000.0 and longer.kind == "robots"
    clock.pass_(999.0)
    assert not [each for each in one.next_urls(5, kinds=BOTH) if each.kind == "robots"]
    assert one.give_back([longer]) == [True]
    assert one.give_back([longer]) == [True]  # the answer was lost
    assert one.renew([longer]) == [None]
    second = robots(one)
    assert one.give_back([first, second]) == [False, True]
    assert one.host("a.org").in_flight == 0
    clock.pass_(1.0)
    (page,) = one.next_urls(5)  # of who does not ask for the kind: as if there were no such thing
    clock.pass_(1.0)
    third = robots(one)
    assert one.give_back([page, third]) == [True, True]


@pytest.mark.parametrize(
    ("status", "waits"),
    [(404, False), (401, False), (403, False), (410, False), (200, False), (204, False), (206, False), (300, False)]
    + [(status, True) for status in (500, 502, 503, 429, 408, 421, 423, 425, None)],
)
def test_what_is_obeyed(one: Brain, clock: HandClock, status: int | None, waits: bool) -> None:
    """RFC 9309, section 2.3.1."""
    claim = robots(one)
    one.report([Resource(claim.url, claim, status, b"" if status in (200, 206) else None, error="no")])
    clock.pass_(1.0)
    claims = one.next_urls(5, kinds=BOTH)
    assert [each.kind for each in claims] == ([] if waits else ["page"])
    if waits:
        assert not claims.finished and claims.next_ready is not None
        clock.at = claims.next_ready + 61.0
        assert robots(one).key == claim.key


def test_redirects_are_claims_of_their_own_for_the_first_origin(one: Brain, clock: HandClock) -> None:
    one.seed(["https://b.org/"])
    one.set_host("b.org", delay=30.0)
    met = one.next_urls(5, kinds=BOTH)
    first = {claim.host: claim for claim in met}
    one.report([Resource(first["b.org"].url, first["b.org"], 404)])
    one.report([Resource(first["a.org"].url, first["a.org"], 301, redirected_to="//b.org/all.txt#x")])
    clock.pass_(2.0)
    assert not [each for each in one.next_urls(5, kinds=BOTH) if each.host == "a.org"]
    clock.pass_(28.0)
    (second,) = [claim for claim in one.next_urls(5, kinds=BOTH) if claim.kind == "robots"]
    assert (second.key, second.url, second.host) == ("robots:https://a.org", "https://b.org/all.txt", "b.org")
    assert one.host("b.org").in_flight == 1 and one.host("a.org").in_flight == 0
    one.report([Resource(second.url, second, 200, TEXT)])
    assert one.robots("https://a.org") == TEXT.decode()
    assert one.robots("https://b.org") is None
    assert one.host("b.org").in_flight == 0


def test_more_than_five_redirects_are_as_none(one: Brain, clock: HandClock) -> None:
    for number in range(MOST_REDIRECTS):
        claim = robots(one)
        (answer,) = one.report([Resource(claim.url, claim, 302, redirected_to=f"/r{number}")])
        assert answer.outcome == "alias"
        clock.pass_(1.0)
    claim = robots(one)
    assert claim.url == f"https://a.org/r{MOST_REDIRECTS - 1}"
    one.report([Resource(claim.url, claim, 302, redirected_to="/more")])
    clock.pass_(1.0)
    assert [each.kind for each in one.next_urls(5, kinds=BOTH)] == ["page"]
    clock.pass_(RENEWED)
    assert robots(one, 1).url == "https://a.org/robots.txt"


def test_a_redirect_to_what_is_no_url_is_as_none(one: Brain, clock: HandClock) -> None:
    claim = robots(one)
    (answer,) = one.report([Resource(claim.url, claim, 301, redirected_to="mailto:x@a.org")])
    assert answer.accepted and "all is allowed" in answer.reason
    clock.pass_(1.0)
    assert [each.kind for each in one.next_urls(5, kinds=BOTH)] == ["page"]


def test_cached_rules_go_on_while_it_fails(one: Brain, clock: HandClock) -> None:
    read(one, clock)
    for _ in range(2):
        clock.pass_(40 * DAY)
        claim = robots(one, 1)
        one.report([Resource(claim.url, claim, 500)])
        clock.pass_(1.0)
        assert [each.url for each in one.next_urls(5, kinds=BOTH)] in (["https://a.org/"], ["https://a.org/b"])
        clock.pass_(one.settings.lease_seconds)
    assert one.robots("https://a.org") == TEXT.decode()


def test_after_thirty_days_without_any_it_is_as_none(one: Brain, clock: HandClock) -> None:
    tries = 0
    while clock.at < START + 40 * DAY:
        claims = one.next_urls(1, kinds=BOTH)
        if claims and claims[0].kind == "page":
            break
        tries += len(claims)
        one.report([Resource(claim.url, claim, None, error="time-out") for claim in claims])
        if not claims:
            assert claims.next_ready is not None
            clock.at = max(claims.next_ready, clock.at + 1.0)
    assert 30 * DAY <= clock.at - START < 33 * DAY
    assert 10 < tries < 100


def test_a_host_whose_robots_txt_fails_for_hours_is_ill(one: Brain, clock: HandClock) -> None:
    """Nobody waits for it; when it answers, all goes on."""
    finished, rounds = False, 0
    while not finished:
        claims = one.next_urls(5, kinds=BOTH)
        assert all(claim.kind == "robots" for claim in claims)
        one.report([Resource(claim.url, claim, 503) for claim in claims])
        finished = claims.finished
        rounds += bool(claims)
        if not claims:
            assert claims.next_ready is not None
            clock.at = max(claims.next_ready, clock.at + 0.1)
    assert 6 * HOUR <= clock.at - START < 12 * HOUR
    assert 5 <= rounds < 60
    assert one.host("a.org").failing_since is not None
    while not (claims := one.next_urls(5, kinds=BOTH)):
        clock.pass_(60.0)
    one.report([Resource(claims[0].url, claims[0], 200, TEXT)])
    clock.pass_(60.0)
    assert [each.kind for each in one.next_urls(5, kinds=BOTH)] == ["page"]


def test_no_crawl_waits_for_a_redirected_robots_txt_that_fails_for_hours(one: Brain, clock: HandClock) -> None:
    """The host that serves it fails, and not the host whose pages wait."""

    def answer(claim: Claim, status: int) -> Resource:
        if claim.host == "a.org":
            return Resource(claim.url, claim, 301, redirected_to="https://b.org/robots.txt")
        return Resource(claim.url, claim, status, TEXT if status == 200 else None)

    finished = False
    while not finished and clock.at < START + DAY:
        claims = one.next_urls(5, kinds=BOTH)
        assert all(claim.kind == "robots" for claim in claims)
        one.report([answer(claim, 503) for claim in claims])
        finished = claims.finished
        if not claims:
            assert claims.next_ready is not None
            clock.at = max(claims.next_ready, clock.at + 0.1)
    assert 6 * HOUR <= clock.at - START < 12 * HOUR
    assert one.host("a.org").failing_since is None
    while clock.at < START + DAY and not one.robots("https://a.org"):
        one.report([answer(claim, 200) for claim in one.next_urls(5, kinds=BOTH)])
        clock.pass_(60.0)
    claims = one.next_urls(5, kinds=BOTH)
    assert [each.kind for each in claims] == ["page"] and not claims.finished


def test_the_other_scheme_goes_on(make_brain: Make, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first", delay_seconds=1.0)
    brain.seed(["https://a.org/1", "https://a.org/2", "http://a.org/3"])
    fetched: list[str] = []
    for _ in range(20):
        for claim in brain.next_urls(1, kinds=BOTH):
            if claim.kind == "page":
                fetched.append(claim.url)
                brain.report([Fetched(claim.url, claim=claim, body=claim.url.encode())])
            elif claim.url.startswith("https:"):
                brain.report([Resource(claim.url, claim, 404)])
            else:
                brain.report([Resource(claim.url, claim, None, error="refused")])
        clock.pass_(2.0)
    assert sorted(fetched) == ["https://a.org/1", "https://a.org/2"]
    assert not brain.next_urls(1, kinds=BOTH).finished


def test_the_reports_of_pages_do_as_well(one: Brain, clock: HandClock) -> None:
    claim = robots(one)
    assert one.report([Fetched(claim.url, claim=claim, body=TEXT)])[0].outcome == "new"
    assert one.robots("https://a.org") == TEXT.decode()
    clock.pass_(RENEWED)
    claim = robots(one, 1)
    assert one.report([Failed(claim.url, claim, 404)])[0].outcome == "changed"
    assert one.robots("https://a.org") is None


def test_what_cannot_be_used_is_refused_and_ends_the_claim(one: Brain, clock: HandClock) -> None:
    claim = robots(one)
    (answer,) = one.report([Resource(claim.url, claim, 200)])
    assert not answer.accepted and "needs its body" in answer.reason
    assert one.host("a.org").in_flight == 0
    clock.pass_(61.0)
    claim = robots(one)
    answers = one.report([Resource(claim.url, claim, 404), Resource(claim.url, claim, 404)])
    assert [each.accepted for each in answers] == [True, False]


def test_500_kib_are_parsed(one: Brain, clock: HandClock) -> None:
    claim = robots(one)
    text = b"User-agent: *\n" + b"#\n" * 249_900 + b"Disallow: /private\n"
    assert 499_000 < len(text) < 512_000
    one.report([Resource(claim.url, claim, 200, text + b"#" * 2_000_000)])
    clock.pass_(1.0)
    met = []
    while claims := one.next_urls(5, kinds=BOTH):
        met += [each.url for each in claims]
        one.report([Fetched(each.url, claim=each) for each in claims])
        clock.pass_(1.0)
    assert met == ["https://a.org/", "https://a.org/b"]


def test_lost_answers(one: Brain, monkeypatch: pytest.MonkeyPatch, clock: HandClock) -> None:
    """Of a claim, a report and a return: each is done once."""
    lost = lose_an_answer(monkeypatch)
    claim = robots(one)
    assert not lost
    monkeypatch.undo()
    lost = lose_an_answer(monkeypatch)
    assert one.report([Resource(claim.url, claim, 200, TEXT)])[0].outcome == "new"
    assert not lost
    monkeypatch.undo()
    clock.pass_(RENEWED)
    claim = robots(one, 1)
    lost = lose_an_answer(monkeypatch)
    assert one.give_back([claim]) == [True]
    assert not lost
    assert one.host("a.org").in_flight == 0


def test_asked_again_by_a_key(brain: Brain, second: Brain) -> None:
    brain.seed(["https://a.org/"])
    (first,) = brain.next_urls(3, kinds=BOTH, key="k")
    (again,) = second.next_urls(3, kinds=BOTH, key="k")
    assert again == first and first.kind == "robots"
    assert second.next_urls(3, kinds=BOTH, key="k").repeated


def test_two_processes_share_them(brain: Brain, second: Brain) -> None:
    brain.seed([f"http://h{n}.org/" for n in range(20)])
    met = [claim.key for each in (brain, second, brain, second) for claim in each.next_urls(9, kinds=BOTH)]
    assert len(met) == len(set(met)) == 20


def test_a_claim_of_a_clock_that_was_ahead(one: Brain, clock: HandClock) -> None:
    clock.pass_(50 * DAY)
    claim = robots(one)
    clock.at = START
    # The host waits for a lease at most, and then finds that the claim is held for no longer than another.
    assert robots_after(one, clock, 2 * one.settings.lease_seconds + 60.0).token != claim.token


def test_rules_of_a_clock_that_was_ahead(one: Brain, clock: HandClock) -> None:
    clock.pass_(50 * DAY)
    read(one, clock)
    clock.at = START
    robots_after(one, clock, 60.0)


def robots_after(brain: Brain, clock: HandClock, seconds: float) -> Claim:
    """The robots.txt that is to be had within so many seconds."""
    until = clock.at + seconds
    while clock.at < until:
        for claim in brain.next_urls(1, kinds=BOTH):
            if claim.kind == "robots":
                return claim
            brain.give_back([claim])
        clock.pass_(10.0)
    raise AssertionError("there was none")


def test_what_was_set_by_hand_counts_as_read(one: Brain, clock: HandClock) -> None:
    one.set_robots("a.org", TEXT)
    assert [each.kind for each in one.next_urls(1, kinds=BOTH)] == ["page"]
    clock.pass_(RENEWED)
    robots(one, 1)
    one.set_robots("a.org", None)
    clock.pass_(1.0)
    assert one.next_urls(1).next_ready is None


def test_kinds_are_checked(one: Brain) -> None:
    for wrong, match in (
        (("feed",), "'feed'"),
        ("sitemap", "need 'page'"),
        ("robots", "need 'page'"),
        ((), "need 'page'"),
        (5, "not 5"),
    ):
        with pytest.raises(BadInput, match=match):
            one.next_urls(1, kinds=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_no_page_comes_before_its_robots_txt(
    make_brain: Make, clock: HandClock, seed: int, ask: Ask
) -> None:
    """A drawn crawl: reports of all sorts, deaths, lapses, renewals; the claims that are out are those on the hosts,
    and it comes to its end once all hosts answer."""
    dice = random.Random(seed)
    brain = make_brain(order="breadth_first", in_flight=dice.choice([0, 1, 2]), delay_seconds=dice.choice([0.0, 1.0]))
    hosts = [f"{scheme}://h{n}.org" for n in range(4) for scheme in ("http", "https")]
    brain.seed([f"{host}/{n}" for host in hosts for n in range(3)])
    read_of: dict[str, float] = {}
    out: list[Claim] = []
    fetched: set[str] = set()

    def end(claim: Claim, calm: bool) -> None:
        how = 0.0 if calm else dice.random()
        if claim.kind == "page":
            assert brain.report([Fetched(claim.url, claim=claim, body=claim.url.encode())])[0].accepted
            fetched.add(claim.url)
        elif how < 0.4:
            if brain.report([Resource(claim.url, claim, 200, b"")])[0].accepted:
                read_of[claim.key] = clock.at
        elif how < 0.6:
            brain.report([Resource(claim.url, claim, 302, redirected_to=f"{dice.choice(hosts)}/r{dice.random()}")])
        elif how < 0.8:
            brain.report([Resource(claim.url, claim, dice.choice([500, 503, None]))])
        elif how < 0.9:
            brain.give_back([claim])
        else:
            brain.renew([claim])
            return
        out.remove(claim)

    for step in range(600):
        calm = step > 150
        claims = brain.next_urls(dice.randint(1, 5), kinds=BOTH)
        for claim in claims:
            assert claim.key not in {each.key for each in out}, "somebody holds it"
            if claim.kind == "page":
                assert f"robots:{'/'.join(claim.url.split('/')[:3])}" in read_of, claim.url
        out += claims
        rows = ask("MATCH (h:Host) WHERE h.in_flight > 0 RETURN sum(h.in_flight)")
        assert rows[0][0] <= len(out)
        for claim in list(out):
            if claim.until < clock.at:
                out.remove(claim)  # nobody has reported it
            elif calm or dice.random() < 0.5:
                end(claim, calm)
        if claims.finished and not out:
            break
        ready = claims.next_ready
        clock.pass_(dice.choice([0.5, 2.0, 40.0]) if not calm or ready is None else max(1.0, ready - clock.at))
    assert len(fetched) == 24
    assert brain.next_urls(1, kinds=BOTH).finished


def obeying(
    brain: Brain, clock: HandClock, seconds: float, seconds_of: Callable[[Claim], float], fails: Callable[[Claim], bool]
) -> Iterator[Claims]:
    """Claim and report for so long as a caller that comes back at the time that was named, or when a fetch ends; yield
    the answers. A caller that obeys gets a claim, or another time, within three answers.

    `seconds_of`: how long the fetch of a claim takes; `fails`: does it fail?
    """
    busy: list[tuple[float, Resource | Failed | Fetched]] = []
    empty, until = 0, clock() + seconds
    while clock() < until:
        done = [report for at, report in busy if at <= clock()]
        busy = [each for each in busy if each[0] > clock()]
        brain.report(done)
        claims = brain.next_urls(100, kinds=BOTH)
        busy += [(clock() + seconds_of(claim), _answered(claim, fails(claim))) for claim in claims]
        empty = 0 if claims or done else empty + 1
        assert empty <= 3
        assert claims.next_ready is None or claims or claims.next_ready > clock() - 1e-6
        yield claims
        coming = [at for at, _ in busy] + ([] if claims.next_ready is None else [claims.next_ready])
        clock.pass_(max(0.05, min(coming, default=clock() + 1.0) - clock()))


def test_a_page_whose_robots_txt_is_with_an_ill_host_waits_for_the_place_of_that_host(
    make_brain: Make, clock: HandClock
) -> None:
    """a.org's robots.txt leads to b.org, which is ill and waits for its turn among other ill hosts, whose fetches take
    minutes."""
    brain = make_brain(delay_seconds=2.0)
    ill = {"b.org", *(f"ill{number}.org" for number in range(5))}
    brain.seed([f"http://{host}/" for host in ("a.org", *sorted(ill))])

    def fails(claim: Claim) -> bool:
        return claim.host in ill or "b.org" in claim.url

    answers = obeying(brain, clock, 1_500.0, lambda claim: 150.0 if fails(claim) else 0.3, fails)
    assert sum(any(claim.key == "robots:http://a.org" for claim in claims) for claims in answers) > 1


@pytest.mark.parametrize("seed", range(4))
def test_a_page_whose_robots_txt_is_with_a_full_host_waits_for_a_claim_of_that_host(
    make_brain: Make, clock: HandClock, seed: int
) -> None:
    """The robots.txt of a.org leads to b.org, all of whose claims are out for minutes."""
    dice = random.Random(seed)
    brain = make_brain(delay_seconds=dice.choice([0.0, 2.0]), in_flight=dice.choice([1, 2]), lease_seconds=3_600.0)
    brain.seed([f"http://b.org/{number}" for number in range(dice.choice([2, 6]))])

    def seconds_of(claim: Claim) -> float:
        return dice.uniform(500.0, 900.0) if claim.kind == "page" and claim.host == "b.org" else 0.3

    fetched: set[str] = set()
    for claims in obeying(brain, clock, 6_000.0, seconds_of, lambda _: False):
        pages = {claim.url for claim in claims if claim.kind == "page"}
        fetched |= pages
        if pages:
            brain.seed(["http://a.org/"])
    assert "http://a.org/" in fetched


def _answered(claim: Claim, fails: bool) -> Resource | Failed | Fetched:
    if claim.kind == "page":
        return Failed(claim.url, claim, 502) if fails else Fetched(claim.url, [], claim)
    if fails:
        return Resource(claim.url, claim, 502)
    if claim.host == "a.org":
        return Resource(claim.url, claim, 301, redirected_to="http://b.org/robots.txt")
    return Resource(claim.url, claim, 404)
