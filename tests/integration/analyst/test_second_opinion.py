"""Answers are computed again from the tables, on webs that are drawn at random: what is asked is what is exported."""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from graphbrain import Brain, Failed, Fetched, Hint, Link
from graphbrain.analyst.questions import ask

HOSTS = ("a.example", "b.example", "c.example", "out.example")
RELS = (None, None, None, "nofollow", "ugc", "sponsored nofollow")
STATUSES = (401, 404, 404, 410, 408, 429, 500, 503)
HTML = ("text/html", "application/xhtml+xml")
Row = dict[str, Any]


def drawn(rng: random.Random, url: str, urls: Sequence[str]) -> Fetched | Failed:
    """What a visit of a page may bring."""
    kind = rng.random()
    if kind < 0.12:
        return Fetched(url, status=rng.choice((301, 308)), redirected_to=rng.choice(urls))
    if kind < 0.18:
        return Fetched(url, [rng.choice(urls)], status=302, led_to=[rng.choice(urls)])
    if kind < 0.28:
        return Failed(url, status=rng.choice(STATUSES), seconds=rng.random())
    if kind < 0.32:
        return Failed(url, error="time-out")
    if kind < 0.35:
        return Failed(url, error="no such scheme", fault="not_sent")
    links = [
        Link(rng.choice(urls), anchor=rng.choice((None, "text")), rel=rng.choice(RELS)) for _ in range(rng.randrange(6))
    ]
    content = rng.randrange(12)
    return Fetched(
        url,
        links,
        body_hash=f"{content:032x}",
        text_hash=f"{content // 2:032x}",
        title=rng.choice((None, "", "short", f"A title of some length, {content}", "long " * 20)),
        canonical=rng.choice((None, url, rng.choice(urls), "http://far.example/")),
        noindex=rng.choice((None, None, True)),
        size=rng.choice((500, 5_000, 2_000_000)),
        content_type=rng.choice((*HTML, "application/pdf")),
        seconds=rng.random(),
    )


def crawl(brain: Brain, seed: int) -> None:
    """Pages are reported in any order, some of them twice; sitemaps and robots.txt come at any time."""
    rng = random.Random(seed)
    urls = [f"http://{host}/{place}/{number}" for host in HOSTS for place in "xy" for number in range(6)]
    brain.change(deny_hosts="out.example")
    brain.seed(urls[:2])
    brain.set_robots("b.example", "User-agent: *\nDisallow: /y/1")
    for _ in range(4):
        brain.hint([Hint(url, kind=rng.choice(("sitemap", "ping")), at=0.0) for url in rng.sample(urls, 5)])
        brain.report([drawn(rng, url, urls) for url in rng.sample(urls, 15)])
    brain.tend(0)


class Opinion:
    """Answers by the tables alone. An alias is no page that links."""

    def __init__(self, brain: Brain) -> None:
        self.pages: dict[str, Row] = {row["key"]: row for row in brain.frame("pages").to_pylist()}
        self.links: list[Row] = brain.frame("links").to_pylist()
        self.spells = [(row["source"], row["alias"]) for row in brain.frame("spells").to_pylist()]
        key_of = {row["url"]: key for key, row in self.pages.items()}
        self.red = {key: key_of[row["redirects_to"]] for key, row in self.pages.items() if row["redirects_to"]}
        self.step = self.red | {
            row["source"]: row["alias"] or row["target"] for row in brain.frame("leads").to_pylist()
        }
        self.of_pages = [row for row in self.links if self.pages[row["source"]]["state"] != "alias"]

    def url(self, key: str) -> str:
        return str(self.pages[key]["url"])

    def behind(self, key: str) -> list[str]:
        """The page, and all to which its redirects lead: an alias may fail at its last visit, too."""
        found = [key]
        while found[-1] in self.step and self.step[found[-1]] not in found:
            found.append(self.step[found[-1]])
        return found

    def circles(self, key: str) -> bool:
        """Does a page that redirects lead into a circle? One that leads to itself by an alias has no step."""
        last = self.behind(key)[-1]
        status = self.pages[last]["status"]
        return last in self.step or (status == 302 and self.pages[last]["state"] == "known")

    def known(self) -> Iterator[Row]:
        """Pages that answer with a content of their own."""
        rows = self.pages.values()
        return (row for row in rows if row["state"] == "known" and row["led_to"] is None and not row["failing"])

    def clicks(self) -> dict[str, int]:
        found = {key: 0 for key, row in self.pages.items() if row["is_seed"]}
        ends = defaultdict(set)
        for source, target in ((row["source"], row["target"]) for row in self.links):
            ends[source].add(target)
        for source, alias in self.spells:
            ends[source].add(alias)
        for alias, goal in self.step.items():
            ends[alias].add(goal)
        waiting = deque(found)
        while waiting:
            key = waiting.popleft()
            free = key in self.step
            for end in ends[key]:
                if found.get(end, 1 << 30) > found[key] + (not free):
                    found[end] = found[key] + (not free)
                    waiting.append(end)
        return found

    def broken_pages(self) -> list[tuple[Any, ...]]:
        links = Counter(row["target"] for row in self.of_pages)
        return [
            (r["url"], r["fault"], links[key])
            for key, r in self.pages.items()
            if r["failing"] and r["state"] != "outside"
        ]

    def broken_links(self) -> set[tuple[Any, ...]]:
        broken = {key for key, row in self.pages.items() if row["failing"]}
        plain = {(r["source"], r["target"]) for r in self.of_pages if not r["via_alias"]}
        links = plain.union(self.spells)
        named = {(on, name, to) for on, name in links for to in self.behind(name) if to in broken}
        named |= {(on, name, name) for on, name in links if name not in broken and self.circles(name)}
        return {(self.url(on), self.url(name), self.url(to)) for on, name, to in named}

    def failing_hosts(self) -> list[tuple[Any, ...]]:
        kinds = ("client", "refused", "broken", "silent", "other")
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.pages.values():
            if row["status"] is None and row["failed"] is None:
                continue
            kind = {"missing": "client"}.get(row["fault"], row["fault"])
            found[row["host"]]["tried"] += 1
            if row["failing"]:
                found[row["host"]][kind if kind in kinds else "other"] += 1
        return [
            (host, each["tried"], *(each[kind] for kind in kinds))
            for host, each in found.items()
            if any(each[kind] for kind in kinds)
        ]

    def conflicts(self) -> list[tuple[Any, ...]]:
        by_url = {row["url"]: row for row in self.pages.values()}
        return [
            (self._problem(row["canonical"], by_url.get(row["canonical"])), row["canonical"], row["url"])
            for row in self.pages.values()
            if row["canonical"] not in (None, row["url"]) and not row["failing"]
        ]

    @staticmethod
    def _problem(canonical: str, target: Row | None) -> str | None:
        if target is None:
            return "is not in the graph" if ".far" not in canonical else ""
        if target["state"] == "alias":
            return "redirects"
        if target["state"] == "outside":
            return "may not be fetched" if target["outside_because"] == "robots" else "is outside the scope"
        if target["failing"]:
            return "fails"
        if target["led_to"] is not None:
            return "redirects"
        if target["noindex"]:
            return "asks not to be found"
        return "names another" if target["canonical"] not in (None, target["url"]) else None

    def copies(self, name: str) -> list[tuple[Any, ...]]:
        counts = Counter(row[name] for row in self.known() if row[name] is not None)
        return [(count,) for count in counts.values() if count > 1]

    def titles(self) -> list[tuple[Any, ...]]:
        found = []
        for row in self.known():
            title, html = row["title"], row["size"] is not None and row["content_type"] in HTML
            if title is None and html:
                found.append(("missing", row["url"]))
            elif title is not None and not 10 <= len(title) <= 60:
                found.append(("too short" if len(title) < 10 else "too long", row["url"]))
        return found

    def nofollow(self) -> list[tuple[Any, ...]]:
        found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for row in self.links:
            source, target = self.pages[row["source"]], self.pages[row["target"]]
            if source["first_fetched"] is not None:
                words = (row["rel"] or "").split()
                found[source["host"], target["host"]].update(["links", *words, *(["marked"] if words else [])])
        names = ("links", "nofollow", "ugc", "sponsored")
        return [(*pair, *(each[name] for name in names)) for pair, each in found.items() if each["marked"]]

    def sitemaps(self) -> list[tuple[Any, ...]]:
        listed, both, leading, unread, unlisted = (Counter[str]() for _ in range(5))
        for row in self.pages.values():
            leads = row["state"] == "alias" or row["led_to"] is not None
            if row["failing"]:
                leads = row["status"] in (301, 302, 303, 307, 308)
            leads = leads and row["state"] != "outside"
            counts = (leading if leads else both if row["first_fetched"] else unread) if row["in_sitemap"] else unlisted
            listed[row["host"]] += row["in_sitemap"] is not None
            counts[row["host"]] += counts is not unlisted or (row["first_fetched"] is not None and not leads)
        return [
            (host, count, *(each[host] for each in (both, leading, unread, unlisted)))
            for host, count in listed.items()
            if count
        ]

    def redirects(self) -> list[tuple[Any, ...]]:
        named = defaultdict(set)
        for source, alias in self.spells:
            named[alias].add(source)
        for row in self.of_pages:
            named[row["target"]].add(row["source"])
        return [(self.url(key), self.url(goal), len(named[key])) for key, goal in self.red.items()]

    def slow(self) -> list[tuple[Any, ...]]:
        found = defaultdict(list)
        for row in self.pages.values():
            if row["fetch_seconds"] is not None:
                found[row["host"]].append(row["fetch_seconds"])
        return [(host, len(each), pytest.approx(sum(each) / len(each), abs=6e-4)) for host, each in found.items()]


def said(brain: Brain, name: str, *columns: str) -> list[tuple[Any, ...]]:
    answer = ask(brain.graph, name, limit="all")
    return list(zip(*map(answer.column, columns), strict=True))


def agree(brain: Brain) -> None:
    opinion = Opinion(brain)
    clicks = opinion.clicks()
    by_kind = ("client", "refused", "broken", "silent", "other")
    found = ask(brain.graph, "failing-hosts", least=1, limit="all")
    slow = [row for row in said(brain, "slow-hosts", "host", "timed", "seconds") if row[1]]
    states = ask(brain.graph, "states")
    depth = ask(brain.graph, "depth")
    pairs: dict[str, tuple[Any, Any]] = {
        "clicks": (
            {row["url"]: row["clicks"] for row in opinion.pages.values()},
            {opinion.url(key): clicks.get(key) for key in opinion.pages},
        ),
        "depth": (
            dict(zip(depth.column("clicks"), depth.column("pages"), strict=True)),
            dict(Counter(clicks.get(key) for key in opinion.pages)),
        ),
        "states": (
            dict(zip(states.column("state"), states.column("pages"), strict=True)),
            dict(Counter(row["state"] for row in opinion.pages.values())),
        ),
        "broken-pages": (said(brain, "broken-pages", "url", "fault", "links"), opinion.broken_pages()),
        "broken-links": (said(brain, "broken-links", "on", "names", "broken"), opinion.broken_links()),
        "failing-hosts": (
            list(zip(*map(found.column, ("host", "tried", *by_kind)), strict=True)),
            opinion.failing_hosts(),
        ),
        "duplicates": (said(brain, "duplicates", "pages"), opinion.copies("body_hash")),
        "text-duplicates": (said(brain, "text-duplicates", "pages"), opinion.copies("text_hash")),
        "titles": (said(brain, "titles", "problem", "url"), opinion.titles()),
        "nofollow-links": (
            said(brain, "nofollow-links", "host", "other", "links", "nofollow", "ugc", "sponsored"),
            opinion.nofollow(),
        ),
        "sitemap-coverage": (
            said(brain, "sitemap-coverage", "host", "in_sitemap", "both", "redirecting", "only_sitemap", "only_crawl"),
            opinion.sitemaps(),
        ),
        "redirects": (said(brain, "redirects", "from", "to", "named"), opinion.redirects()),
        "slow-hosts": (slow, opinion.slow()),
        "canonical-conflicts": (
            said(brain, "canonical-conflicts", "problem", "canonical", "url"),
            opinion.conflicts(),
        ),
    }
    for name, (asked, computed) in pairs.items():
        if isinstance(asked, dict):
            assert asked == computed, name
        else:
            assert sorted(asked, key=str) == sorted(computed, key=str), name


def test_answers_are_those_of_the_tables(brain: Brain) -> None:
    crawl(brain, 1)
    agree(brain)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(4, 22))])
def test_answers_are_those_of_the_tables_of_any_web(brain: Brain, seed: int) -> None:
    crawl(brain, seed)
    agree(brain)
