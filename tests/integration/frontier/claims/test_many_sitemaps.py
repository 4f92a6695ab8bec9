"""Dozens of sitemaps of one host over simulated weeks, among them a loop, one that lies and one that is dead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from graphbrain import Brain
from graphbrain.frontier.claims.sitemap_state import LATEST
from tests.integration.conftest import START, HandClock
from tests.integration.frontier.claims.test_sitemap_claims import KINDS, ROBOTS, Web, text

DAY, HOUR = 86_400.0, 3_600.0
STEP = 12 * HOUR
AT_ONCE = 40
ROOT = "https://a.org"
INDEX, LOOP = f"{ROOT}/maps/index.xml", f"{ROOT}/maps/loop.xml"
LIAR, HONEST, DEAD = (f"{ROOT}/maps/{name}.xml" for name in ("liar", "honest", "dead"))


Ask = Callable[..., list[list[object]]]


@dataclass
class Host:
    """A host with so many sitemaps, each with one of its articles. `visits`: URL → when it was fetched."""

    brain: Brain
    clock: HandClock
    count: int
    articles: int = 10
    visits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.web = Web(self.brain, self.clock)
        self.urls = [f"{ROOT}/articles/{number}" for number in range(self.articles)]
        self.named = [f"{ROOT}/maps/{number}.xml" for number in range(self.count)]
        self.lied = [f"{ROOT}/quiet/{number}" for number in range(6)]
        self.dated = [f"{ROOT}/dated/{number}" for number in range(6)]
        self.web.found = {
            ROBOTS: f"Sitemap: {INDEX}\nSitemap: {LIAR}\nSitemap: {HONEST}\nSitemap: {DEAD}\n".encode(),
            INDEX: text([*self.named, LOOP, INDEX], "sitemap"),
            LOOP: text([INDEX, LOOP], "sitemap"),
        }
        for number, url in enumerate(self.named):
            self.web.found[url] = text([self.urls[number % self.articles]])
        self.brain.seed(self.urls)

    def live(self, days: int) -> None:
        """Crawl what is due, twice a day."""
        end = self.clock.at + days * DAY
        while self.clock.at < end:
            self._change()
            while claims := self.brain.next_urls(AT_ONCE, kinds=KINDS):
                for claim in claims:
                    self.visits[claim.url].append(self.clock.at)
                answers = self.brain.report([self.web.item(claim) for claim in claims])
                assert all(answer.accepted for answer in answers), answers
                self.clock.pass_(1.0)
            self.clock.at = START + (int((self.clock.at - START) / STEP) + 1) * STEP

    def _change(self) -> None:
        """Both sitemaps have six pages. The liar's never change, and have today's date each day; one page of the other
        changes each day, and has that date."""
        day = int((self.clock.at - START) / DAY)
        self.web.found[LIAR] = text([(url, self.clock.at) for url in self.lied])
        changed = {url: START + ((day - n) // 6 * 6 + n) * DAY - 1.0 for n, url in enumerate(self.dated)}
        self.web.found[HONEST] = text(list(changed.items()))
        self.web.found |= {url: str(at).encode() for url, at in changed.items()}

    def gaps(self, url: str) -> list[float]:
        """Return the days between two visits of a URL."""
        return [round((after - before) / DAY, 2) for before, after in pairwise(self.visits[url])]


def true_shares(ask: Ask) -> dict[str, float]:
    """The share of true dates that the visits have shown, by the URL of the sitemap."""
    rows: list[Any] = ask("MATCH (r:Resource) WHERE r.dated > 0 RETURN r.url, r.dated, r.dated_changes, r.by_chance")
    return {url: (changes - by_chance) / (dated - by_chance) for url, dated, changes, by_chance in rows}


@pytest.mark.long
@pytest.mark.nightly
def test_dozens_of_sitemaps_over_weeks(make_brain: Callable[..., Brain], clock: HandClock, ask: Ask) -> None:
    host = Host(make_brain(revisit_seconds=0.9 * DAY), clock, 60)
    host.live(56)

    # Pages are not kept waiting, though dozens of sitemaps were found before most of them were visited.
    for url in host.urls:
        assert host.visits[url][0] <= START + HOUR
        assert max(host.gaps(url)) <= 1.5, (url, host.gaps(url))

    # Each sitemap that is well comes again, the loop among them, and no more often than others.
    last = START + 56 * DAY
    for url in (*host.named, INDEX, LOOP):
        assert len(host.visits[url]) >= 3 and last - host.visits[url][-1] <= LATEST + STEP, url
    assert len(host.visits[INDEX]) + len(host.visits[LOOP]) <= 4 * max(len(host.visits[url]) for url in host.named)

    # The dead one comes at growing intervals, then never.
    gaps = host.gaps(DEAD)
    assert gaps == sorted(gaps) and len(gaps) >= 6 and gaps[-1] > 10 * gaps[0]
    died = ask("MATCH (r:Resource {kind: 'sitemap'}) WHERE r.dead_at IS NOT NULL RETURN r.url, r.dead_at")
    assert died == [[DEAD, host.visits[DEAD][-1]]] and host.visits[DEAD][-1] < last - 7 * DAY

    # The dates of the liar are worth nothing, and those of the other sitemap are.
    shares = true_shares(ask)
    assert shares[LIAR] < 0.1 and shares[HONEST] > 0.7, shares
