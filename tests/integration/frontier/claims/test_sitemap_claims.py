"""Sitemaps as claims: found, read, renewed, dead; what they may list; how much their dates are worth."""

from __future__ import annotations

import gzip
import itertools
import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pytest

from graphbrain import Brain, Claim, Fetched, Resource
from graphbrain.base.errors import GraphUnavailable
from graphbrain.base.model import Host
from graphbrain.frontier.claims import sitemaps
from graphbrain.frontier.claims.sitemap_state import DEAD_AFTER, DEEPEST
from graphbrain.service.client import shapes
from tests.integration.conftest import START, HandClock, lose_an_answer

KINDS = ("page", "robots", "sitemap")
DAY, HOUR = 86_400.0, 3_600.0
Make = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]


def text(urls: Iterable[str | tuple[str, float]], tag: str = "url") -> bytes:
    """A sitemap of these pages, or with another tag an index."""
    root = "urlset" if tag == "url" else "sitemapindex"
    entries = []
    for url in urls:
        where, at = (url, None) if isinstance(url, str) else url
        date = "" if at is None else f"<lastmod>{datetime.fromtimestamp(at, UTC).isoformat()}</lastmod>"
        entries.append(f"<{tag}><loc>{where}</loc>{date}</{tag}>")
    return (f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + "".join(entries) + f"</{root}>").encode()


class Web:
    """What is where: URL → the body, None for a 404, a status, or a redirect as text; others are pages."""

    def __init__(self, brain: Brain, clock: HandClock, **found: object) -> None:
        self.brain, self.clock = brain, clock
        self.found: dict[str, object] = dict(found)
        self.asked: list[str] = []

    def report(self, claim: Claim) -> str | None:
        """Report what is there."""
        (answer,) = self.brain.report([self.item(claim)])
        assert answer.accepted, answer
        return answer.outcome

    def item(self, claim: Claim) -> Resource | Fetched:
        """Fetch what is there."""
        self.asked.append(claim.url)
        what = self.found.get(claim.url, b"page" if claim.kind == "page" else None)
        item: Resource | Fetched
        if isinstance(what, str):
            item = Resource(claim.url, claim, 301, redirected_to=what)
        elif isinstance(what, int):
            item = Resource(claim.url, claim, what)
        elif claim.kind == "page":
            item = Fetched(claim.url, claim=claim, body=what)  # type: ignore[arg-type]
        else:
            item = Resource(claim.url, claim, 404 if what is None else 200, what)  # type: ignore[arg-type]
        return item

    def crawl(self, seconds: float = 1e9) -> None:
        """Crawl until there is nothing to do, or time is up."""
        until = self.clock.at + seconds
        while self.clock.at < until:
            claims = self.brain.next_urls(10, kinds=KINDS)
            for claim in claims:
                self.report(claim)
            if claims:
                self.clock.pass_(0.01)
            elif claims.finished or claims.next_ready is None:
                return
            else:
                self.clock.at = max(self.clock.at + 0.01, min(claims.next_ready, until))


@pytest.fixture
def brain(make_brain: Make) -> Brain:
    """A brain of one host."""
    brain = make_brain(order="breadth_first", delay_seconds=1.0, revisit_seconds=0)
    brain.seed(["https://a.org/"])
    return brain


ROBOTS = "https://a.org/robots.txt"


def sitemap(brain: Brain) -> Claim:
    """The one claim that there is, of a sitemap."""
    (claim,) = brain.next_urls(10, kinds=KINDS)
    assert claim.kind == "sitemap"
    return claim


def test_sitemaps_of_robots_txt_and_of_an_index_bring_pages(brain: Brain, clock: HandClock, ask: Ask) -> None:
    web = Web(brain, clock)
    web.found = {
        ROBOTS: b"User-agent: *\nDisallow: /private\nSitemap: https://a.org/maps/index.xml\nsitemap: /other.txt",
        "https://a.org/maps/index.xml": text(
            ["https://a.org/maps/1.xml.gz", "https://a.org/maps/index.xml", "https://b.org/3.xml"], "sitemap"
        ),
        "https://a.org/maps/1.xml.gz": gzip.compress(text(["https://a.org/1", "https://a.org/private/2"])),
        "https://a.org/other.txt": b"https://a.org/3\nhttps://c.org/4\n",
        "https://b.org/3.xml": text(["https://a.org/3"]),
    }
    web.crawl()
    assert set(web.asked) == {
        *(ROBOTS, "https://a.org/", "https://a.org/maps/index.xml", "https://a.org/maps/1.xml.gz"),
        *("https://a.org/other.txt", "https://a.org/1", "https://a.org/3", "https://b.org/3.xml"),
    }
    assert len(web.asked) == 8 and web.asked[0] == ROBOTS
    assert brain.page("https://a.org/private/2").outside_because == "robots"
    assert brain.next_urls(1, kinds=KINDS).finished
    assert brain.host("a.org").in_flight == 0
    assert ask("MATCH (p:Page) WHERE p.url CONTAINS 'xml' RETURN count(p)") == [[0]]
    assert brain.audit().ok


@pytest.mark.parametrize("seed", range(4))
def test_whoever_claims_the_pages_the_sitemaps_are_read(brain: Brain, clock: HandClock, seed: int) -> None:
    """One caller asks for all kinds, the other for pages alone, which may get all pages of a host, and all that come
    later: what its robots.txt names, or names after a day, is read by the first."""
    dice, web = random.Random(seed), Web(brain, clock)
    for number in range(9):
        host = f"h{number}.org"
        brain.seed([f"https://{host}/{page}" for page in range(dice.randrange(1, 3))])
        web.found[f"https://{host}/robots.txt"] = f"Sitemap: https://{host}/first.txt".encode()
        web.found |= {f"https://{host}/{name}.txt": f"https://{host}/{name}".encode() for name in ("first", "later")}
    for named in ("first", "later"):
        web.asked.clear()
        for _ in range(120):
            kinds = dice.choice([KINDS, ("page",)])
            for claim in brain.next_urls(dice.randrange(1, 4), kinds=kinds):
                web.report(claim)
            clock.pass_(dice.choice([0.0, 1.0, 7.0]))
        read = {url.removesuffix("robots.txt") for url in web.asked if url.endswith("robots.txt")} - {"https://a.org/"}
        assert {f"{home}{named}.txt" for home in read} <= set(web.asked)
        assert read or named == "later"
        for home in read:
            web.found[f"{home}robots.txt"] = f"Sitemap: {home}later.txt".encode()
        clock.pass_(DAY)


@pytest.mark.usefixtures("answers_lost")
def test_a_brain_that_was_cleared_looks_for_sitemaps_at_once(brain: Brain, clock: HandClock) -> None:
    for _ in range(2):
        (page,) = brain.next_urls(10, kinds=("page", "sitemap"))
        clock.pass_(2.0)
        assert [claim.url for claim in brain.next_urls(10, kinds=("page", "sitemap"))] == ["https://a.org/sitemap.xml"]
        brain.clear()
        brain.seed([page.url])


def test_without_any_one_is_tried_once(brain: Brain, clock: HandClock) -> None:
    web = Web(brain, clock)
    web.found = {ROBOTS: b"User-agent: *\n"}
    web.crawl()
    assert web.asked.count("https://a.org/sitemap.xml") == 1
    clock.pass_(90 * DAY)
    web.crawl()
    assert web.asked.count("https://a.org/sitemap.xml") == 1


def test_who_does_not_ask_for_them_gets_none(brain: Brain, clock: HandClock, ask: Ask) -> None:
    brain.set_robots("https://a.org", "Sitemap: https://a.org/s.xml")
    (page,) = brain.next_urls(10)
    brain.report([Fetched(page.url, claim=page, body=b"")])
    clock.pass_(2.0)
    assert brain.next_urls(10).finished
    assert ask("MATCH (r:Resource) RETURN count(r)") == [[0]]


def test_calls_for_several_kinds_together(make_brain: Make, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first", delay_seconds=1.0)
    brain.seed([f"https://h{n}.org/" for n in range(20)])
    for n in range(20):
        brain.set_robots(f"https://h{n}.org", "Sitemap: /s.xml")
    brain.give_back(brain.next_urls(20, kinds=("page", "sitemap")))
    clock.pass_(2.0)
    calls = {
        worker: brain.combined.next_urls(8, worker, None, worker, False, kinds)
        for worker, kinds in {"a": ("page",), "b": ("page", "sitemap"), "c": ("page",)}.items()
    }
    got = {worker: {claim.kind for claim in call.result()} for worker, call in calls.items() if call is not None}
    assert got["a"] == got["c"] == {"page"} and "sitemap" in got["b"]


@pytest.mark.parametrize(
    ("robots", "listed"),
    [
        (b"Sitemap: https://a.org/maps/s.xml", {"https://a.org/1", "https://a.org/maps/2"}),
        (b"", {"https://a.org/1", "https://a.org/maps/2"}),
        (b"Sitemap: https://b.org/s.xml", {"https://a.org/1", "https://a.org/maps/2", "https://b.org/3"}),
    ],
)
def test_which_pages_a_sitemap_may_list(
    brain: Brain, clock: HandClock, ask: Ask, robots: bytes, listed: set[str]
) -> None:
    """sitemaps.org: those of hosts whose robots.txt names it; else its own folder and below."""
    every = text(["https://a.org/1", "https://a.org/maps/2", "https://b.org/3", "https://c.org/4"])
    web = Web(brain, clock)
    web.found = {ROBOTS: robots} | dict.fromkeys(
        ("https://a.org/maps/s.xml", "https://a.org/sitemap.xml", "https://b.org/s.xml"), every
    )
    web.crawl(3 * HOUR)
    pages = {str(url) for (url,) in ask("MATCH (p:Page) WHERE p.url <> 'https://a.org/' RETURN p.url")}
    assert pages == listed


@pytest.mark.parametrize("named", [True, False])
def test_an_index_that_robots_txt_names_may_list_sitemaps_of_other_hosts(
    brain: Brain, clock: HandClock, ask: Ask, named: bool
) -> None:
    """These list pages of the site that names the index; entries without a host are on that of the sitemap."""
    web = Web(brain, clock)
    index = text(["https://b.org/s.xml", "https://a.org/own.xml"], "sitemap")
    web.found = {ROBOTS: b"Sitemap: /index.xml" if named else b""}
    web.found |= {"https://a.org/index.xml": index, "https://a.org/sitemap.xml": index}
    web.found["https://b.org/s.xml"] = text(["https://a.org/1", "https://b.org/2", "https://c.org/3"])
    web.found["https://a.org/own.xml"] = text(["/4", "//a.org/5", "HTTPS://A.ORG/6", "//c.org/7"])
    web.crawl(3 * HOUR)
    pages = {str(url) for (url,) in ask("MATCH (p:Page) WHERE p.url <> 'https://a.org/' RETURN p.url")}
    own = {"https://a.org/4", "https://a.org/5", "https://a.org/6"}
    assert pages == own | ({"https://a.org/1", "https://b.org/2"} if named else set())


def test_a_chain_of_indexes_ends(brain: Brain, clock: HandClock) -> None:
    web = Web(brain, clock)
    web.found = {ROBOTS: b"Sitemap: https://a.org/0.xml"}
    web.found |= {f"https://a.org/{n}.xml": text([f"https://a.org/{n + 1}.xml"], "sitemap") for n in range(9)}
    web.crawl(HOUR - 1.0)
    assert [url for url in web.asked if url.endswith(".xml")] == [f"https://a.org/{n}.xml" for n in range(DEEPEST + 1)]


def test_it_comes_again_by_how_often_it_changed(brain: Brain, clock: HandClock) -> None:
    web = Web(brain, clock)
    web.found = {ROBOTS: b"Sitemap: /quiet.xml\nSitemap: /busy.xml"}
    web.found["https://a.org/quiet.xml"] = text(["https://a.org/q"])
    for day in range(16):
        web.found["https://a.org/busy.xml"] = text([("https://a.org/b", clock.at)])
        web.crawl(DAY / 4)
        clock.at = max(clock.at, START + (day + 1) * DAY / 4)
    busy, quiet = (web.asked.count(f"https://a.org/{name}.xml") for name in ("busy", "quiet"))
    assert busy > 3 * quiet > 0


def test_a_dead_one_comes_at_growing_intervals_and_then_never(brain: Brain, clock: HandClock, ask: Ask) -> None:
    web = Web(brain, clock)
    web.found = {ROBOTS: b"Sitemap: /dead.xml"}
    at: list[float] = []
    while True:
        claims = brain.next_urls(5, kinds=KINDS)
        at += [clock.at for claim in claims if claim.kind == "sitemap"]
        for claim in claims:
            web.report(claim)
        if not claims and claims.next_ready is None:
            break
        clock.at = max(clock.at + 1.0, claims.next_ready or 0.0)
    gaps = [after - before for before, after in itertools.pairwise(at)]
    assert 8 <= len(at) <= 14 and gaps == sorted(gaps)
    assert ask("MATCH (r:Resource {kind: 'sitemap'}) RETURN r.dead_at IS NOT NULL, r.queue, r.fault") == [
        [True, None, "there is no sitemap"]
    ]
    assert at[-1] < START + 2 * DEAD_AFTER


def test_a_redirect_is_a_claim_of_its_own(brain: Brain, clock: HandClock, ask: Ask) -> None:
    web = Web(brain, clock)
    web.found = {
        ROBOTS: b"Sitemap: /s.xml",
        "https://a.org/s.xml": "https://b.org/real.xml",
        "https://b.org/real.xml": text(["https://a.org/1", "https://b.org/2"]),
    }
    web.crawl(HOUR / 2)
    assert "https://b.org/real.xml" in web.asked
    assert {url for (url,) in ask("MATCH (p:Page) RETURN p.url")} == {"https://a.org/", "https://a.org/1"}
    assert brain.audit().ok


def test_a_claim_lapses_is_renewed_and_given_back(brain: Brain, clock: HandClock) -> None:
    brain.set_robots("https://a.org", "Sitemap: /s.xml")
    (page,) = brain.next_urls(10, kinds=KINDS)
    brain.report([Fetched(page.url, claim=page, body=b"")])
    clock.pass_(1.0)
    first = sitemap(brain)
    assert not brain.next_urls(10, kinds=KINDS).finished
    clock.pass_(brain.settings.lease_seconds + 1.0)
    second = sitemap(brain)
    assert second.key == first.key == "sitemap:https://a.org/s.xml" and second.token != first.token
    assert not brain.report([Resource(first.url, first, 200, text([]))])[0].accepted
    (longer,) = brain.renew([second], 1_000.0)
    assert longer is not None and longer.until == clock.at + 1_000.0
    assert brain.give_back([longer]) == brain.give_back([longer]) == [True]
    clock.pass_(1.0)
    third = sitemap(brain)
    answer = brain.report([Resource(third.url, third, 200, text(["https://a.org/1"]))])
    assert answer[0].outcome == "new"
    assert brain.report([Resource(third.url, third, 200, text(["https://a.org/1"]))]) == answer
    assert brain.host("a.org").in_flight == 0 and brain.audit().ok


def test_a_lost_answer_loses_no_claim(
    brain: Brain, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.set_robots("https://a.org", "Sitemap: /s.xml")
    brain.next_urls(10, kinds=KINDS)
    clock.pass_(1.0)
    brain.next_urls(1, kinds=("page",))
    lost = lose_an_answer(monkeypatch)
    claim = sitemap(brain)
    assert not lost
    assert ask("MATCH (r:Resource) RETURN r.lease, r.counted") == [[claim.token, True]]
    assert brain.host("a.org").in_flight == 2 and brain.audit().ok


def test_the_entries_are_written_though_the_writer_dies(
    brain: Brain, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is still good, and another report of the same text goes on where the first one was."""
    monkeypatch.setattr("graphbrain.brain.sitemaps.PASS_BATCH", 10)
    brain.set_robots("https://a.org", "Sitemap: /s.xml")
    (page,) = brain.next_urls(10, kinds=KINDS)
    brain.report([Fetched(page.url, claim=page, body=b"")])
    clock.pass_(1.0)
    claim = sitemap(brain)
    body = text([f"https://a.org/{n}" for n in range(100)])
    real, batches = sitemaps.go_on, 0

    def die(*given: object) -> frozenset[str]:
        nonlocal batches
        batches += 1
        if batches == 4:
            raise GraphUnavailable("killed")
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(sitemaps, "go_on", die)
    with pytest.raises(GraphUnavailable):
        brain.report([Resource(claim.url, claim, 200, body)])
    assert ask("MATCH (r:Resource) RETURN r.lease, r.written") == [[claim.token, 30]]
    batches = 10
    assert brain.report([Resource(claim.url, claim, 200, body)])[0].outcome == "new"
    assert batches == 17
    assert ask("MATCH (p:Page) RETURN count(p)") == [[101]]
    assert ask("MATCH (r:Resource) RETURN r.lease, r.written, r.entries") == [[None, None, 100]]


def test_reports_of_many_small_sitemaps_share_batches(
    make_brain: Make, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that is over writes nothing more, and the others are written whole, though the writer dies between."""
    monkeypatch.setattr("graphbrain.brain.sitemaps.PASS_BATCH", 10)
    brain = make_brain(order="breadth_first", delay_seconds=0.0, revisit_seconds=0)
    brain.seed(["https://a.org/"])
    brain.set_robots("https://a.org", "".join(f"Sitemap: /{n}.xml\n" for n in range(21)))
    (page,) = brain.next_urls(10, kinds=KINDS)
    brain.report([Fetched(page.url, claim=page, body=b"")])
    clock.pass_(1.0)
    claims = brain.next_urls(40, kinds=KINDS)
    over = next(claim for claim in claims if claim.url.endswith("/20.xml"))
    assert len(claims) == 21 and brain.give_back([over]) == [True]
    pages = {claim.url: [f"{claim.url[:-4]}/{n}" for n in range(3)] for claim in claims}
    pages["https://a.org/0.xml"] = pages["https://a.org/1.xml"]
    items = [Resource(claim.url, claim, 200, text(pages[claim.url])) for claim in claims]
    real, left = sitemaps.go_on, 3

    def die(*given: object) -> frozenset[str]:
        nonlocal left
        left -= 1
        if not left:
            raise GraphUnavailable("killed")
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(sitemaps, "go_on", die)
    with pytest.raises(GraphUnavailable):
        brain.report(items)
    assert ask("MATCH (r:Resource) RETURN sum(r.written), count(r.lease)") == [[20, 20]]
    before = left
    answers = brain.report(items)
    assert [answer.url for answer in answers if not answer.accepted] == [over.url]
    assert before - left == 4, "forty entries were left, of ten in a batch"
    assert ask("MATCH (p:Page) RETURN count(p)") == [[1 + 19 * 3]]
    assert ask("MATCH (r:Resource) RETURN sum(r.entries), count(r.written), count(r.lease)") == [[60, 0, 0]]
    assert brain.audit().ok


def test_reports_together_and_one_by_one_come_to_the_same(
    make_brain: Make, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trust in the dates of sitemaps that list each other's pages, and the times of these pages."""
    monkeypatch.setattr("graphbrain.brain.sitemaps.PASS_BATCH", 7)
    found = {}
    for together in (False, True):
        clock.at = START
        brain = make_brain(revisit_seconds=0.9 * DAY, delay_seconds=0.0)
        brain.clear()
        brain.seed(["https://a.org/"])
        draw = random.Random(11)
        web = Web(brain, clock)
        web.found[ROBOTS] = "".join(f"Sitemap: /{n}.xml\n" for n in range(6)).encode()
        for _ in range(9):
            urls = [f"https://a.org/{n}" for n in range(20)]
            web.found |= {url: str(clock.at).encode() for url in draw.sample(urls, 6)}
            for n in range(6):
                dates = {url: clock.at - draw.choice((1.0, DAY)) for url in draw.sample(urls, 5)}
                web.found[f"https://a.org/{n}.xml"] = text(dates.items())
            while claims := sorted(brain.next_urls(40, kinds=KINDS), key=lambda claim: (claim.kind, claim.url)):
                items = [web.item(claim) for claim in claims]
                for some in [items] if together else [[item] for item in items]:
                    assert all(answer.accepted for answer in brain.report(some))
            clock.pass_(DAY)
        found[together] = [
            ask("MATCH (r:Resource) WHERE r.kind = 'sitemap' WITH r ORDER BY r.key RETURN r.key, r.due_at, r.dated,"
                " r.dated_changes, r.by_chance, r.missed, r.entries"),
            ask("MATCH (p:Page) WITH p ORDER BY p.key RETURN p.key, p.hinted, p.fetched, p.visits"),
        ]  # fmt: skip
        assert brain.audit().ok
    assert any(row[2] for row in found[True][0]) and found[True] == found[False]


def test_many_sitemaps_keep_no_page_waiting(make_brain: Make, clock: HandClock) -> None:
    """Of 20 claims 5 are of sitemaps at most while pages wait, however many hosts have dead ones."""
    brain = make_brain(order="breadth_first", delay_seconds=0.0)
    hosts = [f"https://h{n}.org" for n in range(40)]
    brain.seed([f"{host}/{page}" for host in hosts for page in range(4)])
    for host in hosts:
        brain.set_robots(host, "Sitemap: /1.xml\nSitemap: /2.xml")
    kinds = ("page", "sitemap")
    brain.give_back(brain.next_urls(100, kinds=kinds))
    clock.pass_(2.0)
    for _ in range(4):
        claims = brain.next_urls(20, kinds=kinds)
        assert len(claims) == 20
        assert 1 <= sum(claim.kind == "sitemap" for claim in claims) <= 5
        brain.report([Resource(claim.url, claim, 404) for claim in claims if claim.kind == "sitemap"])
        clock.pass_(2.0)


def test_sitemaps_have_a_share_of_the_turns_of_their_host(brain: Brain, clock: HandClock) -> None:
    """A host that is ready for one claim in five seconds has a hundred dead sitemaps, and pages that wait."""
    random.seed(1)
    brain.set_host("a.org", delay=5.0)
    brain.set_robots("https://a.org", "".join(f"Sitemap: /{n}.xml\n" for n in range(100)))
    brain.seed([f"https://a.org/{n}" for n in range(60)])
    asked = []
    for _ in range(72):
        (claim,) = brain.next_urls(10, kinds=KINDS)
        asked.append(claim.kind)
        if claim.kind == "page":
            brain.report([Fetched(claim.url, claim=claim, body=claim.url.encode())])
        else:
            brain.report([Resource(claim.url, claim, 404)])
        assert not brain.next_urls(10, kinds=KINDS), "it is not ready"
        clock.pass_(5.0)
    assert 50 <= asked.count("page") <= 66 and asked.count("sitemap") >= 6
    brain.give_back(brain.next_urls(10, kinds=KINDS))


def test_a_host_with_one_place_is_ready_when_its_sitemap_was_reported(make_brain: Make, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first", delay_seconds=1.0, in_flight=1)
    brain.seed(["https://a.org/"])
    brain.set_robots("https://a.org", "".join(f"Sitemap: /{n}.xml\n" for n in range(9)))
    (page,) = brain.next_urls(10, kinds=KINDS)
    brain.report([Fetched(page.url, claim=page, body=b"")])
    clock.pass_(60.0)  # they were found while the page had the place
    for number in range(8):
        clock.pass_(1.0)
        claim = sitemap(brain)
        assert not brain.next_urls(10, kinds=KINDS), "it has one place"
        clock.pass_(0.5)
        assert not brain.next_urls(10, kinds=KINDS)
        if number % 2:
            brain.give_back([claim])
        else:
            brain.report([Resource(claim.url, claim, 200, text([]))])
        ready = brain.next_urls(10, kinds=KINDS).next_ready
        assert ready is not None and ready <= clock.at + 0.6


def test_they_come_again_as_soon_as_robots_txt_was_renewed(make_brain: Make, clock: HandClock) -> None:
    """They wait for robots.txt as long as it is fetched, and no longer."""
    brain = make_brain(order="optimal", delay_seconds=0.0, revisit_seconds=DAY)
    brain.seed(["https://a.org/"])
    web = Web(brain, clock)
    web.found = {ROBOTS: b"Sitemap: /x.xml", "https://a.org/x.xml": text(["https://a.org/x"])}
    web.crawl(DAY / 4)
    clock.pass_(2 * DAY)
    (claim,) = brain.next_urls(1, kinds=("page", "robots"))
    assert claim.kind == "robots" and not brain.next_urls(10, kinds=KINDS)
    web.report(claim)
    clock.pass_(2.0)
    assert "sitemap" in {claim.kind for claim in brain.next_urls(10, kinds=KINDS)}


def test_a_crawler_that_does_not_wait_for_retries_waits_for_sitemaps(make_brain: Make, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first", delay_seconds=5.0)
    brain.seed(["https://a.org/"])
    web = Web(brain, clock)
    web.found = {ROBOTS: b"Sitemap: /x.xml\nSitemap: /y.xml"}
    asked = list[str]()
    while len(asked) < 4:
        claims = brain.next_urls(10, kinds=KINDS)
        asked += [claim.url for claim in claims]
        if not claims:
            assert claims.next_unfailed is not None and claims.next_unfailed <= clock.at + 60.0, asked
            clock.at = max(clock.at + 0.1, claims.next_unfailed)
        for claim in claims:
            web.report(claim)
    assert {"https://a.org/x.xml", "https://a.org/y.xml"} <= set(asked)


@pytest.mark.parametrize("lies", [True, False])
def test_how_much_its_dates_are_worth_is_learned(make_brain: Make, clock: HandClock, ask: Ask, lies: bool) -> None:
    """Of 6 pages each changes every six days, and is visited once a day. One sitemap has today's date on all of them
    every day, the other has the dates of the changes."""
    brain = make_brain(revisit_seconds=0.9 * DAY, delay_seconds=0.0)
    brain.seed(["https://a.org/"])
    web = Web(brain, clock)
    urls = [f"https://a.org/{n}" for n in range(6)]
    for day in range(20):
        for number, url in enumerate(urls):
            changed = START + ((day - number) // 6 * 6 + number) * DAY - 1.0
            web.found[url] = str(changed).encode()
            web.found.setdefault("dates", {})[url] = clock.at if lies else changed  # type: ignore[attr-defined]
        dates: dict[str, float] = web.found["dates"]  # type: ignore[assignment]
        web.found |= {ROBOTS: b"Sitemap: /s.xml", "https://a.org/s.xml": text(dates.items())}
        web.crawl(HOUR)
        clock.at = START + (day + 1) * DAY
    ((dated, changes, by_chance, missed),) = ask(
        "MATCH (r:Resource {kind: 'sitemap'}) RETURN r.dated, r.dated_changes, r.by_chance, r.missed"
    )
    share = (changes - by_chance) / (dated - by_chance)
    assert (share < 0.15) if lies else (share > 0.8 and changes > missed), (dated, changes, by_chance, missed)
    assert ask("MATCH (r:Resource {kind: 'sitemap'}) RETURN r.dated > 0") == [[True]]


def test_a_host_shows_its_robots_txt_and_sitemaps(brain: Brain, clock: HandClock) -> None:
    web = Web(brain, clock)
    web.found = {
        ROBOTS: b"Sitemap: /s.xml\nSitemap: /dead.xml",
        "https://a.org/s.xml": text([("https://a.org/1", START - DAY), ("https://a.org/2", START - DAY)]),
    }
    assert brain.host("a.org").resources == ()
    web.crawl(HOUR / 2)
    found = brain.host("a.org")
    assert found.resources is not None
    robots, dead, well = sorted(found.resources, key=lambda each: each.url.replace("robots", "a"))
    assert (robots.kind, robots.url, robots.state) == ("robots", ROBOTS, "read")
    assert robots.due is not None and robots.due == robots.fetched + 20 * HOUR  # type: ignore[operator]
    assert (dead.url, dead.state, dead.note) == ("https://a.org/dead.xml", "failing", "there is no sitemap")
    assert (well.state, well.entries, well.true_dates) == ("read", 2, None)
    assert shapes.read(Host, found.as_dict()) == found, "as it goes over the wire"
    (listed,) = brain.hosts("a.org")
    assert listed.resources is None and shapes.read(Host, listed.as_dict()) == listed
