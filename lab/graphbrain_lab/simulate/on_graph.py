"""The real brain as a policy of the simulator, with the same history, the same budget and a simulated clock.

The brain must be empty. All pages are reported on day 0, as in the simulator. Then each step claims as many pages as it
may, and reports for each its present body. The value of a page is set by hand, so that links do not matter, and hosts
have no delays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbrain.base.model import Claim, Fetched
from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.base.urls.normalization import key_of
from graphbrain.brain.brain import Brain
from graphbrain.frontier import discovery
from graphbrain.graph.connection import bound
from graphbrain.schedule.change_rate import Prior
from graphbrain.schedule.priors import properties
from graphbrain.schedule.value import DAY
from graphbrain_lab.simulate.policies import RevisitPolicy, Setting

__all__ = ["START", "OnGraph", "SimulatedClock", "settings_of"]

START = 1_700_000_000.0
"""The epoch seconds of day 0."""
BATCH = 200


@dataclass
class SimulatedClock:
    """A clock whose epoch seconds the simulator advances."""

    at: float = START

    def __call__(self) -> float:
        return self.at


def settings_of(setting: Setting) -> dict[str, Any]:
    """Return the settings with which the brain chooses like the simulator's policy `lanes`: by values, without
    delays."""
    return {
        "order": "optimal",
        "value": "own",
        "value_by_relevance": False,
        "delay_seconds": 0.0,
        "revisit_seconds": 0.0,
        "frontier_reserve": 0.0,
        "oldest_reserve": setting.reserve,
        "forgetting": setting.forgetting,
        "lease_seconds": 604_800.0,
    }


class OnGraph(RevisitPolicy):
    """The brain's claims as a policy. `clock` is the brain's clock. With a prior in the setting the brain fits none.

    Pages are numbered in the order of their internal ids, because the index returns the lower id first among equals.
    Neo4j may reuse ids of deleted pages, so that this order can differ from that of creation.
    """

    def __init__(self, setting: Setting, brain: Brain, clock: SimulatedClock) -> None:
        super().__init__(setting)
        self._brain, self._clock = brain, clock
        clock.at = START
        brain.remake(**settings_of(setting))
        if setting.prior is not None:
            facts = {**properties(setting.prior, {}, 0), "prior_tried": 1e12}
            brain.graph.write(lambda tx: tx.do("brain/change", settings=facts), "brain/change")
        self.urls = self._seeded([f"http://simulated.org/{page}" for page in range(self.pages)])
        self._page = {url: page for page, url in enumerate(self.urls)}
        self._version = np.zeros(self.pages, dtype=np.int64)
        self._held: dict[int, Claim] = {}
        self._begin(setting.value)

    def _seeded(self, urls: Sequence[str]) -> list[str]:
        """Create these pages, and return their URLs in the order of their ids."""
        ids: dict[str, int] = {}
        for first in range(0, len(urls), BATCH):
            part = urls[first : first + BATCH]
            self._brain.seed(part)
            ids |= self._brain.graph.read(bound(discovery.find, [key_of(url) for url in part]), "pages/find")
        return sorted(urls, key=lambda url: ids[key_of(url)])

    def _begin(self, value: Floats) -> None:
        for page, worth in enumerate(value.tolist()):
            self._brain.set_page(self.urls[page], value=worth)
        for first in range(0, self.pages, BATCH):
            self._brain.report([self._visit(page) for page in range(first, min(first + BATCH, self.pages))])

    def choose(self, now: float, count: int, room: Ints | None) -> Ints:  # noqa: ARG002
        self._clock.at = START + now * DAY
        claims = self._brain.next_urls(count) if count else ()
        self._held = {self._page[claim.url]: claim for claim in claims}
        return np.array(list(self._held), dtype=np.int64)

    def learn(self, pages: Ints, elapsed: Floats, changed: Flags) -> None:  # noqa: ARG002
        self._version[pages] += changed
        order = pages.tolist()
        for first in range(0, len(order), BATCH):
            self._brain.report([self._visit(page) for page in order[first : first + BATCH]])
        if self.setting.prior is None:
            self._brain.tend(0)

    def _visit(self, page: int) -> Fetched:
        return Fetched(self.urls[page], (), self._held.get(page), body_hash=str(self._version[page]))

    @property
    def prior(self) -> Prior:
        """Return the brain's prior for pages that it has not visited twice."""
        return self._brain.policy.schedule.prior
