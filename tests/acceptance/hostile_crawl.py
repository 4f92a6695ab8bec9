"""Crawls the hostile web as a stranger would, and says what came of it.

    python -m tests.acceptance.hostile_crawl [--order ORDER] [--large PAGES]

It needs a Neo4j as the tests do (TEST_GRAPHBRAIN_URI, or it starts one), and prints one line a figure.
"""

from __future__ import annotations

import argparse
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphbrain import Answer, Brain, Claims, Failed, Fetched
from graphbrain.demo import crawler
from tests.acceptance.hostile_web import DAY, HostileWeb, Site, hostile, large, small
from tests.plugin import Neo4j, emptied, neo4j

TIMEOUT = 0.5
"""Seconds of silence after which the crawler gives up a fetch: everything is on loopback."""
LONGEST = 1.0
"""Seconds after which it gives up a page that never ends."""
THREADS = 16
MOST_PAGES = 50
"""Pages of one host."""


class Clock:
    """The time of day, and what it was moved on by."""

    def __init__(self) -> None:
        self.shift = 0.0

    def __call__(self) -> float:
        return time.time() + self.shift


class Leaping(Brain):
    """A brain whose clock leaps to the next page where somebody would wait for it, and that counts what it is asked.

    The crawler waits only when none of its claims is out: so no claim ever lapses by a leap. As long as pages are to be
    visited again, it is not told that the crawl is finished.
    """

    leaps: Clock
    calls: int = 0
    empty: int = 0
    until: float = float("inf")

    def next_urls(
        self,
        n: int = 100,
        *,
        worker: str | None = None,
        wait: float = 0.0,
        now_only: bool = False,
        kinds: Iterable[str] | None = None,
    ) -> Claims:
        """Claims, without waiting."""
        claims = super().next_urls(n, worker=worker, now_only=now_only, kinds=kinds)
        self.calls += 1
        if not claims and wait:
            self.empty += 1
            ready = claims.next_ready
            if ready is not None:
                self.leaps.shift += max(0.0, min(ready, self.until) - self.now()) + 0.001
                return Claims((), next_ready=ready)
        return claims


@contextmanager
def leaping(server: Neo4j, clock: Clock, **settings: Any) -> Iterator[Leaping]:
    """An empty brain on the server, by this clock."""
    emptied(server, **settings).close()
    login = {"uri": server.uri, "user": server.user, "password": server.password}
    with Leaping.open(crawl="test", clock=clock, auto_tend=False, **login) as brain:
        assert isinstance(brain, Leaping)
        brain.leaps = clock
        yield brain


@dataclass
class Crawl:
    """One crawl and what was seen of it. `written`: when each report was, by the clock; `all_good_after`: when the last
    good page came, by the clock and by requests; `states`: what the pages are in the end."""

    web: HostileWeb
    reports: list[tuple[Fetched | Failed, Answer]] = field(default_factory=list)
    written: list[float] = field(default_factory=list)
    seconds: float = 0.0
    all_good_after: tuple[float, int] | None = None
    states: dict[str, str] = field(default_factory=dict)

    def run(
        self,
        brain: Leaping,
        days: float,
        seconds: float = 300.0,
        tend: int = 100,
        enough: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """From the seeds until the crawl is over, so many days of the clock have gone, a page that was reported is
        `enough`, or this machine has had enough."""
        stop = threading.Event()
        clock, end = self.web.clock, self.web.began + days * DAY
        brain.until = end + 1.0

        def on_page(result: Fetched | Failed, answer: Answer) -> None:
            self.reports.append((result, answer))
            self.written.append(clock())
            if len(self.reports) % tend == 0:
                brain.tend(0.5, passes=False)
            if self.all_good_after is None and not self.web.missing():
                self.all_good_after = clock() - self.web.began, len(self.web.visits)
            if enough(result.url):
                stop.set()

        watch = threading.Thread(target=_stop_at, args=(stop, clock, end, seconds), daemon=True)
        watch.start()
        began = time.monotonic()
        before = crawler.TIMEOUT, crawler.LONGEST
        crawler.TIMEOUT, crawler.LONGEST = TIMEOUT, LONGEST
        try:
            hand_in_robots(brain, self.web)
            handlers = [self.web.handler()]
            crawler.crawl(brain, threads=THREADS, handlers=handlers, robots=False, stop=stop, on_page=on_page)
        finally:
            crawler.TIMEOUT, crawler.LONGEST = before
            stop.set()
            watch.join()
        self.seconds = time.monotonic() - began

    def granted(self, lease: float) -> dict[str, list[float]]:
        """When each host was claimed from, by the brain's clock, in order; the length of a lease tells."""
        times: dict[str, list[float]] = {}
        for result, _ in self.reports:
            if result.claim is not None:
                times.setdefault(result.claim.host, []).append(result.claim.until - lease)
        return {host: sorted(each) for host, each in times.items()}

    def figures(self, brain: Brain) -> dict[str, Any]:
        """What there is to tell."""
        web, kinds = self.web, self.web.kinds()
        outcomes = Counter(answer.outcome or "refused" for _, answer in self.reports)
        good = [web.asked[name] for name in web.good]
        stats = brain.stats()
        return {
            "seconds": round(self.seconds, 1),
            "days by the clock": round((web.clock() - web.began) / DAY, 2),
            "hosts": len(web.sites),
            "good pages": len(web.good),
            "of these fetched": sum(web.got[name] > 0 for name in web.good),
            "requests": len(web.visits),
            "requests until all good pages were there": self.all_good_after and self.all_good_after[1],
            "days until then": self.all_good_after and round(self.all_good_after[0] / DAY, 2),
            "requests by kind": dict(kinds.most_common()),
            "share of traps": round(kinds["trap"] / max(1, len(web.visits)), 3),
            "requests for one good page: mean, most": (round(sum(good) / len(good), 2), max(good)),
            "most requests for one page": web.asked.most_common(3),
            "requests against robots.txt": [
                f"{visit.host}{visit.target}" for visit in web.visits if visit.kind == "forbidden"
            ],
            "reports by outcome": dict(outcomes.most_common()),
            "pages by state": stats["states"],
        }


def _stop_at(stop: threading.Event, clock: Any, end: float, seconds: float) -> None:
    """Set `stop` when the clock has come to the end, or after so many seconds of this machine."""
    late = time.monotonic() + seconds
    while not stop.wait(0.02):
        if clock() >= end or time.monotonic() > late:
            stop.set()


def hand_in_robots(brain: Brain, web: HostileWeb) -> None:
    """What a crawler does first: seeds, and each robots.txt, as of its origin."""
    answer = brain.seed(web.seeds)
    assert not answer.refused, answer
    for origin, text in web.robots.items():
        brain.set_robots(origin, text)


def whole(
    server: Neo4j,
    order: str,
    days: float = 2.0,
    seconds: float = 300.0,
    sites: Iterable[Site] | None = None,
    revisit_seconds: float = 10 * DAY,
) -> tuple[Crawl, dict[str, Any], Any]:
    """The whole hostile web, or some of it, under one order; the crawl, its figures, and the audit."""
    clock = Clock()
    manners = {"delay_seconds": 1.0, "pages_per_host": MOST_PAGES}  # a budget, as README tells for traps
    with (
        HostileWeb(sites or hostile(), clock) as web,
        leaping(server, clock, order=order, revisit_seconds=revisit_seconds, **manners) as brain,
    ):
        crawl = Crawl(web)
        crawl.run(brain, days, seconds=seconds)
        found = {"order": order, **crawl.figures(brain), "calls": brain.calls, "of these empty": brain.empty}
        brain.tend(None)
        crawl.states = {known.url: known.state for known in brain.find(limit=100_000)}
        return crawl, found, brain.audit(None)


def beside(
    server: Neo4j, pages: int, hosts: int, *, to_the_end: bool = False, **more: Any
) -> tuple[Crawl, dict[str, Any], Any]:
    """One large host, all of whose pages wait, and small ones that are found then; until the first page of each of
    these is there, or all is."""
    clock = Clock()
    with HostileWeb([large(pages), *small(hosts)], clock) as web, leaping(server, clock, **more) as brain:
        crawl = Crawl(web)
        brain.seed(f"http://{name}" for name in sorted(web.good) if name.startswith("large.example/page"))
        firsts = {f"http://small{n}.example/" for n in range(hosts)}

        def enough(url: str) -> bool:
            firsts.discard(url)
            return not firsts and not to_the_end

        crawl.run(brain, 0.9, 3_000.0 if to_the_end else 300.0, tend=1_000, enough=enough)
        found = {**more, **crawl.figures(brain), "calls": brain.calls, "of these empty": brain.empty}
        return crawl, found, brain.audit(None if to_the_end else 1_000)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--order", action="append", help="default: optimal and best_first")
    parser.add_argument(
        "--large", type=int, default=0, help="also fetch one host of so many pages beside 200 small ones"
    )
    arguments = parser.parse_args()
    servers = neo4j.__wrapped__() if hasattr(neo4j, "__wrapped__") else neo4j.__pytest_wrapped__.obj()
    server = next(servers)
    try:
        runs = (whole(server, order) for order in arguments.order or ["optimal", "best_first"])
        if arguments.large:
            runs = itertools.chain(runs, [beside(server, arguments.large, 200, to_the_end=True, delay_seconds=0.0)])
        for crawl, found, audit in runs:
            for name, value in found.items():
                print(f"{name:45} {value}")
            print(f"{'not fetched':45} {sorted(crawl.web.missing())}")
            print(f"{'audit':45} {'clean' if audit.ok else audit.findings}\n", flush=True)
    finally:
        next(servers, None)


if __name__ == "__main__":
    main()
