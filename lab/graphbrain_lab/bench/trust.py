"""The worth of learned trust in a sitemap's dates: the fetches that find most changes of a generated site.

Pages of the site change at random, each at its own rate, at most once a day. Its sitemap is read every day. A part of
the changes gets a new date, and so do pages that have not changed. The crawler makes the same number of visits every
day, to the pages of the highest expected value by `schedule.change_rate`; a new date makes a page older by
`change_hints.beta`, as in the brain. A change counts as found if the page is visited before it changes again. The
figure is the least number of visits a day that finds `WANTED` of the changes in the second half of the days, when trust
and rates have been learned.
This needs no server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphbrain.base.numeric.arrays import Flags, Floats
from graphbrain.frontier.claims.sitemap_state import Evidence, Trust, trust_from, weigh
from graphbrain.frontier.corrections.change_hints import beta
from graphbrain.schedule import change_rate
from graphbrain.schedule.change_rate import Prior
from graphbrain_lab.simulate.policies import best

__all__ = ["MODES", "WANTED", "Crawled", "GeneratedSite", "Needed", "crawl", "generate", "needed"]

WANTED = 0.95
"""The share of the changes that must be found."""
MEDIAN_RATE, RATE_SPREAD = 0.03, 1.0
"""The median of the change rates a day, which are log-normal, and the standard deviation of ln λ."""
FITTED = Prior(0.58, 11.8)
"""The first belief about these rates. It has their mean and variance, as a prior that a brain fits to its crawl."""
Mode = Literal["learned", "fixed", "none"]
MODES: tuple[Mode, ...] = ("learned", "fixed", "none")
"""Learned trust in dates, the trust of the settings, and no sitemap."""


@dataclass(frozen=True, slots=True)
class GeneratedSite:
    """The days on which each page changes, and the days on which it gets a new date in the sitemap. Both are arrays of
    days by pages."""

    changes: Flags
    dates: Flags


@dataclass(frozen=True, slots=True)
class Crawled:
    """The result of a crawl.

    Attributes:
        found: The share of the changes of the second half that the crawl found.
        true: The share of true dates that was learned by the end, or that is set.
    """

    found: float
    true: float


@dataclass(frozen=True, slots=True)
class Needed:
    """The visits a day that find `WANTED` of the changes, as a share of the pages. The numbers are means of several
    sites."""

    trust: Mode
    true_dates: float
    visits: float
    believed: float

    def as_dict(self) -> dict[str, object]:
        """Return the values by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def generate(pages: int, days: int, true_dates: float, seed: int, *, announced: float = 0.9) -> GeneratedSite:
    """Return a site whose sitemap has this share of true dates, and announces this share of the changes."""
    dice = np.random.default_rng(seed)
    chance = -np.expm1(-MEDIAN_RATE * np.exp(RATE_SPREAD * dice.standard_normal(pages)))
    changes = dice.random((days, pages)) < chance
    true = changes & (dice.random((days, pages)) < announced)
    wrong = announced * chance * (1.0 - true_dates) / true_dates / (1.0 - chance)
    return GeneratedSite(changes, true | (~changes & (dice.random((days, pages)) < wrong)))


def crawl(site: GeneratedSite, mode: Mode, visits: int) -> Crawled:
    """Crawl a site with this number of visits a day."""
    days, pages = site.changes.shape
    prior, first, shown = FITTED, Trust(), Evidence()
    shape, scale = np.full(pages, prior.shape), np.full(pages, prior.scale)
    last, moved = np.zeros(pages), np.zeros(pages)
    stale, dated = np.zeros(pages, bool), np.zeros(pages, bool)
    found = 0
    for day in range(days):
        now = day + 1.0
        # Pages change, and new dates raise the age of pages.
        stale |= site.changes[day]
        trust = trust_from(shown, first) if mode == "learned" else first
        if mode != "none":
            for page in np.flatnonzero(site.dates[day]).tolist():
                moved[page] += beta(float(shape[page] / scale[page]), trust)
            dated |= site.dates[day]
        # Visit the best pages, and learn from the visits.
        chosen = best(change_rate.expected_value(1.0, shape, scale, now - last + moved), visits)
        changed, elapsed = stale[chosen], now - last[chosen]
        chances = change_rate.chance_of_change(shape[chosen], scale[chosen], elapsed)
        shown = (shown + _evidence(changed, dated[chosen], chances)).faded()
        shape[chosen], scale[chosen] = change_rate.after_visit(shape[chosen], scale[chosen], elapsed, changed, prior)
        last[chosen], moved[chosen], stale[chosen], dated[chosen] = now, 0.0, False, False
        found += int(changed.sum()) if day >= days // 2 else 0
    made = int(site.changes[days // 2 :].sum())
    return Crawled(found / made, (trust_from(shown, first) if mode == "learned" else first).true)


def _evidence(changed: Flags, dated: Flags, chances: Floats) -> Evidence:
    """Return the evidence of these visits. `chances`: the chance of each visit to find a change without the date."""
    each = (weigh(bool(seen), float(chance)) for seen, chance in zip(changed[dated], chances[dated], strict=True))
    return sum(each, Evidence(missed=float((changed & ~dated).sum())))


def needed(
    pages: int,
    days: int,
    true_dates: float,
    seeds: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> list[Needed]:
    """Return the visits that each kind of trust needs, as means of generated sites.

    Args:
        pages: The pages of a site.
        days: The days of a crawl.
        true_dates: The share of the sitemap's dates that are true.
        seeds: The number of sites.
        progress: Is called with the crawls that are done and those in all.
    """
    # Each kind of trust is tried on the same sites.
    sites = [generate(pages, days, true_dates, seed) for seed in range(1, seeds + 1)]
    rows = []
    for number, mode in enumerate(MODES):
        least: list[int] = []
        believed: list[float] = []
        for place, site in enumerate(sites):
            visits = _least(site, mode)
            least.append(visits)
            believed.append(crawl(site, mode, visits).true)
            progress(number * seeds + place + 1, len(MODES) * seeds)
        rows.append(Needed(mode, true_dates, float(np.mean(least)) / pages, float(np.mean(believed))))
    return rows


def _least(site: GeneratedSite, mode: Mode) -> int:
    """Return the least number of visits a day that finds enough changes, by bisection. A visit of every page does."""
    low, high = 0, int(site.changes.shape[1])
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        if crawl(site, mode, middle).found >= WANTED:
            high = middle
        else:
            low = middle
    return high
