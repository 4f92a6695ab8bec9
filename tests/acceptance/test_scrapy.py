"""The Scrapy door: real spiders in processes of their own, against a small site on loopback and a live brain."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from graphbrain import Brain
from graphbrain.demo.pages import SEEDS
from tests.acceptance.listening import listening
from tests.acceptance.scrapy_processes import Spiders, ended
from tests.acceptance.watched_web import LISTED, WatchedWeb, holds_nothing
from tests.plugin import PATIENCE, eventually
from tests.verbs import top_of

Answer = tuple[int, dict[str, str], str]


def page(*links: str, text: str = "") -> Answer:
    """An HTML page."""
    anchors = "".join(f"<a href='{link}'>to {link.strip('/')}</a> " for link in links)
    return 200, {"Content-Type": "text/html; charset=utf-8"}, f"<title>A page</title><p>{text}</p>{anchors}"


@dataclass
class Site:
    """Pages by path, served on loopback. `visits`: path, method and when it came and was answered."""

    pages: Mapping[str, Answer]
    slow: Mapping[str, float] = field(default_factory=dict)
    pause: float = 0.0
    gate: Mapping[str, threading.Barrier] = field(default_factory=dict)
    visits: list[tuple[str, str, float, float]] = field(default_factory=list)
    headers: dict[str, Mapping[str, str]] = field(default_factory=dict)
    root: str = ""

    def asked(self) -> Counter[str]:
        return Counter(path for path, *_ in self.visits)

    def at(self, path: str) -> str:
        return (self.elsewhere if path == "/busy" else self.root) + path

    @property
    def elsewhere(self) -> str:
        """The same site by another name: another host."""
        return self.root.replace("127.0.0.1", "localhost")


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            came = time.monotonic()
            size = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(size).decode()
            path = self.path + ("?" + sent if sent else "")
            site.headers[path] = dict(self.headers.items())
            if path in site.gate:
                site.gate[path].wait(PATIENCE)
            time.sleep(site.slow.get(path, site.pause))
            status, headers, text = site.pages.get(path, (404, {}, "no such page"))
            body = text.replace("ELSEWHERE", site.elsewhere).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                if self.command != "HEAD":
                    self.wfile.write(body)
            finally:  # a client may go away before it has read a long body
                site.visits.append((path, self.command, came, time.monotonic()))

        do_POST = do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with listening(Handler) as address:
        site.root = f"http://{address}"
        yield site


def links_of(brain: Brain, url: str) -> set[str]:
    return {link.url for link in brain.links(url)}


def hold(brain: Brain, audit: bool = True) -> None:
    """Nothing is held, and the accounts are right."""
    assert brain.stats()["leased"] == 0
    if audit:
        brain.tend(None)
        found = brain.audit(None)
        assert found.ok, found.findings


def test_a_site_of_all_sorts_is_crawled_once_and_stands_in_the_graph(brain: Brain, spiders: Spiders) -> None:
    ill = (
        "/missing",
        "/broken",
        "ELSEWHERE/busy",
        "/slow",
        "/moved",
        "/found",
        "/circle",
        "/round",
        "/stumble",
        "/paper",
        "/odd",
    )
    site = Site(
        {
            "/": page("/a", "/b", "/a#again", *ill, "/form"),
            "/a": page("/thing/1?utm_source=a", "/thing/2"),
            "/b": page("/thing/1", "/"),
            "/thing/1": page(text="the first"),
            "/thing/1?utm_source=a": page(text="the first"),
            "/thing/2": page(text="the second"),
            "/broken": (500, {}, "oh"),
            "/busy": (429, {"Retry-After": "600"}, "later"),
            "/slow": page("/never"),
            "/moved": (308, {"Location": "/new"}, ""),
            "/round": (302, {"Location": "/round"}, ""),
            "/new": page("/a"),
            "/found": (302, {"Location": "/elsewhere"}, ""),
            "/elsewhere": page("/behind-found"),
            "/behind-found": page(),
            "/circle": (301, {"Location": "/circle#here"}, ""),
            "/stumble": page("/never"),
            "/paper": (200, {"Content-Type": "application/pdf", "ETag": '"paper"'}, "%PDF-1.7\n\0\1\2"),
            "/odd": page(),
            "/behind-odd": page(),
            "/form": page(),
            "/form?q=one": page("/behind-form"),
            "/form?q=two": page(),
            "/behind-form": page(),
        },
        slow={"/slow": 6.0},
    )
    with serving(site):
        items, log = spiders.run("careful", site, DOWNLOAD_TIMEOUT=2)
        # An answer that came too late; redirects that are followed for the callback; a target that was then claimed.
        asked = site.asked() - Counter({"/slow": 1, "/round": 5, "/elsewhere": 1})
        assert set(asked.values()) == {1}, "nor is a page that moves to itself asked for again and again"
        # A page of two spellings: it is fetched by that which it has when it is claimed, and /a and /b race.
        spelt = next(path for path in asked if path.startswith("/thing/1"))
        spellings = {"/thing/1", "/thing/1?utm_source=a"}
        assert set(asked) == {*site.pages, "/missing"} - {"/slow"} - (spellings - {spelt})
        by = Counter((item["by"], item["url"].removeprefix(site.root)) for item in items)
        assert by["thing", spelt] == by["thing", "/thing/2"] == by["odd", "/odd"] == 1
        assert {path for kind, path in by if kind == "parse"} == {
            *("/", "/a", "/b", "/new", "/paper", "/elsewhere", "/behind-found", "/behind-odd", "/behind-form", "/form"),
        }
        assert by["form", "/form"] == 2
        first = next(item for item in items if item["url"] == site.at(spelt))
        assert first["on"] in ([site.at("/a"), 1], [site.at("/b"), 1]) and first["said"] == "the first"
        assert first["colour"] == "red"
        assert site.headers[spelt]["X-Thing"] == "yes"
        assert log.count("Spider error processing") == 2  # /stumble and /paper
        state = {
            path: brain.page(site.at(path))
            for path in (*asked, "/slow")
            if (path == spelt or "?" not in path) and path not in ("/elsewhere", "/odd")
        }
    assert {path for path in state if state[path].state != "known"} == {
        *("/missing", "/broken", "/busy", "/slow", "/moved", "/circle", "/round", "/stumble"),
    }
    assert (state["/missing"].status, state["/broken"].status, state["/busy"].status) == (404, 500, 429)
    assert state["/slow"].status is None and state["/slow"].not_before
    assert state["/stumble"].errors == 1 and state["/circle"].errors == 1
    assert (state["/moved"].state, state["/moved"].redirects_to) == ("alias", site.at("/new"))
    assert [(state[at].status, state[at].fault) for at in ("/moved", "/circle", "/round")] == [
        (308, None), (301, "circles"), (302, "circles")
    ]  # fmt: skip
    assert state["/paper"].etag == '"paper"'
    assert state["/a"].body_hash and state["/a"].body_hash != state["/b"].body_hash
    assert [state[path].depth for path in ("/", "/a", spelt, "/behind-form", "/behind-odd")] == [0, 1, 2, 2, 1]
    assert {url.partition("?")[0] for url in links_of(brain, site.at("/b"))} == {site.at("/thing/1"), site.at("/")}
    assert links_of(brain, site.at("/form")) == {site.at("/behind-form")}
    assert not links_of(brain, site.at("/found")), "it leads elsewhere"
    assert links_of(brain, site.at("/elsewhere")) == {site.at("/behind-found")}
    hold(brain)


def tree(pages: int, hosts: str = "") -> dict[str, Answer]:
    """A site whose pages each link to two more."""
    return {"/": page("/1", "/2")} | {
        f"/{n}": page(*(f"/{m}" for m in (2 * n + 1, 2 * n + 2) if m < pages), hosts) for n in range(1, pages)
    }


def together(site: Site) -> list[str]:
    """Pages that were asked for while they were being fetched already."""
    before: dict[str, float] = {}
    found = []
    for path, _, came, went in sorted(site.visits, key=lambda visit: visit[2]):
        if came < before.get(path, 0.0):
            found.append(path)
        before[path] = went
    return found


@pytest.mark.nightly
def test_two_processes_share_a_site(brain: Brain, spiders: Spiders) -> None:
    both = threading.Barrier(2)  # neither gets beyond its first page before the other has begun
    pages = {**tree(100), "/left": page("/"), "/right": page("/", "/2")}
    with serving(Site(pages, pause=0.05, gate={"/left": both, "/right": both})) as site:
        started = [
            spiders.start("links", site, CONCURRENT_REQUESTS=1, start_urls=[site.at(path)]) for path in site.gate
        ]
        items = [ended(process)[0] for process in started]
        assert all(len(some) > 1 for some in items)
        assert site.asked() == dict.fromkeys(site.pages, 1)
    assert sum(map(len, items)) == len(site.pages) == brain.stats()["states"]["known"]
    assert brain.page(site.at("/31")).depth == 6
    hold(brain)


@pytest.mark.nightly
@pytest.mark.long
def test_what_a_killed_process_held_comes_back_and_nothing_is_fetched_twice_at_once(
    make_brain: Callable[..., Brain], spiders: Spiders
) -> None:
    brain = make_brain(lease_seconds=2.0)
    site = Site(tree(24), pause=0.2, slow={"/5": 3.0})  # longer than a lease: it is renewed
    with serving(site):
        victim = spiders.start("links", site, CONCURRENT_REQUESTS=4)
        eventually(lambda: len(site.visits) > 8, "nine visits", victim)
        victim.send_signal(signal.SIGKILL)
        victim.communicate(timeout=PATIENCE)  # its pipes are closed, too
        held = brain.stats()["leased"]
        time.sleep(1.0)  # the site still takes in what was sent to it
        before = site.asked()
        items, _ = spiders.run("links", site, CONCURRENT_REQUESTS=4)
        asked = site.asked()
    assert held > 0
    assert set(asked) == set(site.pages)
    assert {path for path, n in asked.items() if n > 1} <= set(before) | {"/5"}
    assert sum(asked.values()) <= len(site.pages) + held
    assert len(items) == len({item["url"] for item in items})
    hold(brain)


@pytest.mark.long
def test_one_ctrl_c_finishes_what_is_under_way_and_gives_back_the_rest(brain: Brain, spiders: Spiders) -> None:
    with serving(Site(tree(30), pause=0.2)) as site:
        process = spiders.start("links", site, CONCURRENT_REQUESTS=6)
        eventually(lambda: len(site.visits) > 8, "nine visits", process)
        process.send_signal(signal.SIGINT)
        first, log = ended(process)
        assert "'finish_reason': 'shutdown'" in log
        hold(brain, audit=False)
        states = brain.stats()["states"]
        assert states["known"] == len(first) == len(site.visits) and states["frontier"]
        rest, _ = spiders.run("links", site)
        assert site.asked() == dict.fromkeys(site.pages, 1)
    assert len(first) + len(rest) == len(site.pages)
    hold(brain)


def test_a_crawl_of_nothing_is_no_success(brain: Brain, spiders: Spiders) -> None:
    """The scope of an older crawl leaves all start pages out: it is said, and the reason is another than 'finished'."""
    brain.change(allow_hosts="elsewhere.example")
    with serving(Site({"/": page("/a"), "/a": page()})) as site:
        items, log = spiders.run("links", site)
        assert not items
        assert f"WARNING: Start page {site.at('/')}: it is outside the scope" in log
        assert "ERROR: The start page is outside the scope of this brain" in log
        assert "'finish_reason': 'graphbrain_nothing'" in log
        assert "Traceback" not in log
        brain.change(allow_hosts="elsewhere.example 127.0.0.1")
        items, log = spiders.run("links", site)
        assert "'finish_reason': 'finished'" in log
        again, log = spiders.run("links", site)
        assert not again
        assert "WARNING: No page was fetched: the pages left are 2 waiting, the next one from " in log


@pytest.mark.nightly
def test_each_process_logs_in_before_it_is_handed_pages(brain: Brain, spiders: Spiders) -> None:
    """And after a restart, too; no page is fetched without the session, and the login is no page of the brain."""
    cookie = (200, {"Content-Type": "text/html", "Set-Cookie": "session=1; Path=/"}, "<p>welcome")
    members = {f"/members/{number}": page(text=f"secret {number}") for number in range(12)}
    site = Site({"/login": page(text="who?"), "/session?who=ada": cookie, **members}, pause=0.1)
    with serving(site):
        both = [spiders.start("members", site, CONCURRENT_REQUESTS=2) for _ in range(2)]
        items = [item for process in both for item in ended(process)[0]]
        assert len(items) == len({item["url"] for item in items}) == 12
        assert site.asked()["/login"] == site.asked()["/session?who=ada"] == 2
        brain.retry(host="127.0.0.1")
        assert brain.crawl_now([site.at("/members/3")]) == [True]
        assert [item["url"] for item in spiders.run("members", site)[0]] == [site.at("/members/3")]
        assert all("session=1" in site.headers[path].get("Cookie", "") for path in members)
        assert {row.url for row in top_of(brain, 50)} == {site.at(path) for path in members}


def test_where_many_pages_lead_to_one_it_is_said(brain: Brain, spiders: Spiders) -> None:
    login = {f"/m/{number}": (302, {"Location": "/login"}, "") for number in range(9)}
    site = Site({"/": page(*login), "/login": page("/", text="who?"), **login})
    with serving(site):
        _, log = spiders.run("links", site)
        host = brain.page(site.at("/")).host
        assert log.count(f"5 pages of {host}, or more, lead to {site.at('/login')} for now: is that a login") == 1
        assert (brain.host(host).wall, brain.host(host).walled) == (site.at("/login"), 9)


def test_a_page_whose_callback_the_spider_lacks_is_no_ill_page(brain: Brain, spiders: Spiders) -> None:
    """It says nothing of the page or its host; a spider that has the callback reads it."""
    with serving(Site({"/": page(), "/special": page(text="special")})) as site:
        brain.note({site.at("/special"): '{"callback":"read_special"}'})
        brain.seed([site.at("/special")])
        _, log = spiders.run("links", site)
        assert "is to be given to read_special(), which this spider does not have" in log and "Traceback" not in log
        lost = brain.page(site.at("/special"))
        assert (lost.state, lost.fault, lost.status, site.asked()["/special"]) == ("frontier", "not_sent", None, 0)
        assert (lost.errors, lost.failed) == (0, None), "the crawler's fault is no failure of the page"
        host = brain.host(lost.host)
        assert (host.failing_since, host.illness, host.unanswered, host.complaints) == (None, None, 0, 0)


@pytest.mark.parametrize(("named", "forbidden"), [("*", True), ("Scrapy", True), ("graphbrain", False)])
def test_what_scrapy_reads_of_robots_txt_holds_for_the_brain(
    brain: Brain, spiders: Spiders, named: str, forbidden: bool
) -> None:
    """Pages that it forbids are outside, for that reason, and have not failed: even one that was claimed before."""
    text = (200, {"Content-Type": "text/plain"}, f"User-agent: {named}\nDisallow: /private/\n")
    private = {f"/private/{number}": page(text="private") for number in range(3)}
    with serving(Site({"/": page("/a", *private), "/a": page(*private), "/robots.txt": text, **private})) as site:
        brain.seed([site.at("/private/0")])
        spiders.run("links", site, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=1)
        pages = [brain.page(site.at(path)) for path in private]
        told = {(page.state, page.outside_because, page.error, page.fault, page.errors) for page in pages}
        assert told == {("outside", "robots", None, None, 0) if forbidden else ("known", None, None, None, 0)}
        assert not forbidden or site.asked().keys().isdisjoint(private)
        assert brain.page(site.at("/a")).state == "known" and site.asked()["/robots.txt"] == 1


KINDS = ["page", "robots", "sitemap"]
MAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>ROOT/listed</loc></url></urlset>'


def test_robots_txt_and_sitemaps_are_claimed_before_pages_and_no_callback_gets_them(
    make_brain: Callable[..., Brain], spiders: Spiders
) -> None:
    """robots.txt moves once; Scrapy's own middleware asks for none, and redirects obey the one that the brain has."""
    brain = make_brain(user_agent="mybot/1.0")
    rules = (200, {"Content-Type": "text/plain"}, "User-agent: mybot\nDisallow: /private\nSitemap: /maps/all.xml\n")
    site = Site(
        {
            "/robots.txt": (301, {"Location": "/rules.txt"}, ""),
            "/rules.txt": rules,
            "/": page("/a", "/private/1", "/hidden", "/kept"),
            "/a": page(),
            "/private/1": page(),
            "/hidden": (302, {"Location": "/private/2"}, ""),
            "/kept": (302, {"Location": "/a"}, ""),
            "/private/2": page(),
            "/listed": page(),
        }
    )
    with serving(site):
        site.pages = {
            **site.pages,
            "/maps/all.xml": (200, {"Content-Type": "text/xml"}, MAP.replace("ROOT", site.root)),
        }
        settings = {"USER_AGENT": "mybot/1.0", "ROBOTSTXT_OBEY": True, "GRAPHBRAIN_KINDS": KINDS}
        items, log = spiders.run("links", site, **settings, CONCURRENT_REQUESTS=1)
        asked = site.asked()
        order = [path for path, *_ in sorted(site.visits, key=lambda visit: visit[2])]
        listed, first = brain.page(site.at("/listed")), brain.page(site.at("/private/1"))
        hidden = brain.page(site.at("/hidden"))
    assert order[:2] == ["/robots.txt", "/rules.txt"], order
    assert asked["/robots.txt"] == asked["/rules.txt"] == asked["/maps/all.xml"] == 1, asked
    assert {item["url"] for item in items} == {site.at(path) for path in ("/", "/a", "/listed")}, log
    assert listed.state == "known"
    assert (first.state, first.outside_because) == ("outside", "robots")
    assert asked["/private/1"] == asked["/private/2"] == 0
    assert (hidden.state, hidden.led_to) == ("known", [site.at("/private/2")])
    assert "'graphbrain/robots': 2" in log and "'graphbrain/sitemaps': 1" in log
    assert "set GRAPHBRAIN_USER_AGENT" not in log and "Traceback" not in log
    hold(brain)


@pytest.mark.long
def test_two_spiders_share_a_web_with_hosts_that_fail(make_brain: Callable[..., Brain], spiders: Spiders) -> None:
    """One host is dead, the robots.txt of another is always 503, and that of a third is 500 at first."""
    delay, hosts = 0.3, ["links.example", "notes.example", "lexicon.example", "birds.example", "trains.example"]
    brain = make_brain(delay_seconds=delay, allow_hosts=" ".join(hosts))
    fails = {"birds.example": [503] * 1_000, "lexicon.example": [500]}
    settings = {"start_urls": list(SEEDS), "GRAPHBRAIN_KINDS": KINDS, "GRAPHBRAIN_PATIENCE": 20}
    with WatchedWeb(pages=120, dead=["trains.example"], fails=fails) as web:
        proxy = f"http://{web.proxy}"
        started = [spiders.start("honest", None, proxy=proxy, **settings) for _ in range(2)]
        for process in started:
            ended(process)
    for host in ("birds.example", "trains.example"):
        assert {each.url for each in web.requests if each.host == host} == {f"http://{host}/robots.txt"}
    for host in ("links.example", "notes.example", "lexicon.example"):
        assert web.asked[f"http://{host}/"] == web.asked[f"http://{host}{LISTED}"] == 1
    web.judge(delay)
    assert holds_nothing(brain)
    hold(brain)


def test_links_that_leave_the_scope_are_checked_when_it_is_asked_for(
    make_brain: Callable[..., Brain], spiders: Spiders
) -> None:
    """By HEAD, and by GET where that brings an error; no callback gets them, and no page is made of them."""
    brain = make_brain(allow_hosts="127.0.0.1")
    away = ["/fine", "/lost", "/moved", "/large"]
    site = Site({"/": page(*(f"ELSEWHERE{path}" for path in away)), "/fine": page()})
    site.pages |= {"/moved": (301, {"Location": "/lost"}, ""), "/large": (405, {}, "x" * 2_000_000)}
    settings = {"ROBOTSTXT_OBEY": False, "GRAPHBRAIN_KINDS": ["page", "link"], "CONCURRENT_REQUESTS": 1}
    with serving(site):
        spiders.run("links", site, **settings)
        assert site.asked() == {"/": 1} and brain.check_links() == 4
        items, log = spiders.run("links", site, **settings)
        asked = Counter((path, method) for path, method, *_ in site.visits)
        broken = {row[-1]: row[1] for row in brain.ask("broken-links").rows}
    by_head = {(path, "HEAD"): 1 for path in away} | {("/lost", "HEAD"): 2}
    assert asked == {("/", "GET"): 1, **by_head, ("/large", "GET"): 1, ("/lost", "GET"): 2}, asked
    assert not items and "'graphbrain/links': 8" in log and "Traceback" not in log, log
    assert broken == {site.elsewhere + "/lost": 404, site.elsewhere + "/moved": 404, site.elsewhere + "/large": 405}
    hold(brain)


def test_a_name_that_robots_txt_is_not_read_for_is_named(brain: Brain, spiders: Spiders) -> None:
    with serving(Site({"/": page()})) as site:
        _, log = spiders.run("links", site, USER_AGENT="other/2.0", GRAPHBRAIN_KINDS="page,robots")
        assert site.asked() == {"/robots.txt": 1, "/": 1} and brain.page(site.at("/")).state == "known"
    assert "reads robots.txt for 'graphbrain', its user_agent, and not for 'other': set GRAPHBRAIN_USER_AGENT" in log


def test_a_spider_that_closes_itself_gives_its_page_back(brain: Brain, spiders: Spiders) -> None:
    with serving(Site(tree(20))) as site:
        items, log = spiders.run("closing", site, CONCURRENT_REQUESTS=1)
        assert "'finish_reason': 'enough'" in log
        assert len(items) == 3 == brain.stats()["states"]["known"]
        assert len(site.visits) >= 4
    hold(brain, audit=False)


@pytest.mark.parametrize("reactor", ["asyncio", "select", "none"])
def test_every_reactor_and_scrapys_own_rules_and_a_start_that_is_no_page(
    brain: Brain, spiders: Spiders, reactor: str
) -> None:
    settings: dict[str, dict[str, Any]] = {
        "asyncio": {},
        "select": {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
        "none": {"TWISTED_REACTOR_ENABLED": False},
    }
    with serving(Site({**tree(12), "/?user=me": page(), "/inside": page("/1")})) as site:
        if reactor == "asyncio":
            items, _ = spiders.run("start", site)
            assert Counter(path for path, method, *_ in site.visits if method == "POST") == {"/?user=me": 1}
            assert len(items) == 8 and brain.page(site.at("/inside")).is_seed
            return
        items, _ = spiders.run("rules", site, **settings[reactor])
    assert {item["url"]: item["text"] for item in items} == {site.at(f"/{n}"): f"to {n}" for n in range(1, 12)}
    hold(brain, audit=False)


@pytest.mark.nightly
def test_a_topic_rates_pages_and_links_and_every_link_may_count(brain: Brain, spiders: Spiders, tmp_path: Path) -> None:
    example = tmp_path / "owl.html"
    example.write_text("<style>stars</style><p>The owl hunts at night. Owls have feathers.", encoding="utf-8")
    site = Site(
        {
            "/": page("/owl", "/train", "ELSEWHERE/owls", text="owls of the night and their feathers"),
            "/owl": page(text="an owl"),
            "/train": page(text="stars and rails"),
        }
    )
    scope = {"GRAPHBRAIN_LINKS": "all", "GRAPHBRAIN_ALLOW_HOSTS": "127.0.0.1"}
    with serving(site):
        spiders.run("careful", site, GRAPHBRAIN_TOPIC=[str(example)], **scope)
    near = {path: brain.page(site.at(path)).relevance or 0.0 for path in site.pages}
    assert near["/"] > 0.5 and near["/owl"] > 0.5 and near["/train"] == 0.0
    outside = brain.page(site.elsewhere + "/owls")
    assert outside.state == "outside" and 0 < (outside.relevance or 0) < near["/"]


def test_a_function_of_ones_own_rates_pages(brain: Brain, spiders: Spiders) -> None:
    site = Site({"/": page("/good", "/bad"), "/good": page("/missing"), "/bad": page()})
    with serving(site):
        _, log = spiders.run("links", site, GRAPHBRAIN_RELEVANCE="tests.acceptance.spiders.rate")
    found = {path: brain.page(site.at(path)).relevance for path in (*site.pages, "/missing")}
    assert found == {"/": None, "/good": 0.75, "/bad": None, "/missing": 0.375}
    assert log.count("GRAPHBRAIN_RELEVANCE must be from 0 to 1, not 7.0") == 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"GRAPHBRAIN_PASSWORD": "wrong"}, "password"),
        ({"ADDONS": {}, "SCHEDULER": "graphbrain.scrapy.Scheduler"}, "set ADDONS = "),
    ],
)
def test_a_users_mistake_is_answered_in_a_sentence(
    brain: Brain, spiders: Spiders, settings: dict[str, Any], said: str
) -> None:
    with serving(Site(tree(2))) as site:
        _, log = spiders.run("links", site, **settings)
        assert not site.visits
    assert said in log and "Traceback" not in log
    assert "'finish_reason': 'graphbrain_failed'" in log
    assert brain.stats()["pages"] == 0
