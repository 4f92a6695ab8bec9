"""The results of crawls of generated sites: means and least values over seeds, with their bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.numeric.methods import without
from graphbrain_lab.bench.traps.running import BATCH, TrapCrawl, TrapTrial

__all__ = ["ASKED", "Row", "rows", "without_harvest"]

HARVEST = "harvest"
"""The factor of the setting `value` that follows from a section's expected harvest."""
REAL, REAL_OF_FEW = 0.9, 0.8
"""The least share of fetches that bring real pages; and the least share if never `BATCH` trap pages waited at once."""
MEAN, LEAST = 0.97, 0.94
"""The least ratio of the pages fetched of a look-alike with harvest to those fetched without: as a mean, and for each
seed."""
ASKED = (
    f"of a trap {REAL:.0%} of each crawl's fetches real, {REAL_OF_FEW:.0%} where never {BATCH} trap pages waited at "
    f"once; of a look-alike with harvest {MEAN:g} in the mean and {LEAST:g} at the least of what is fetched without"
)


@dataclass(slots=True)
class Row:
    """The crawls of one shape under one order and value, by one number of processes. There is one for each seed.

    `bases`: for a look-alike under a value with harvest, the crawls of the same seeds without harvest.
    """

    shape: str
    order: str
    value: str
    processes: int
    crawls: list[TrapCrawl] = field(default_factory=list)
    bases: list[TrapCrawl] = field(default_factory=list)

    @property
    def trap(self) -> bool:
        """Return True if the server makes pages up."""
        return self.crawls[0].trial.kind.trap

    @property
    def shares(self) -> list[float]:
        """Return a share of the fetches for each seed. For a trap, it counts the fetches of real pages. For a
        look-alike, it counts the fetches in the part that looks like a trap."""
        return [crawl.share if self.trap else crawl.own / max(1, crawl.fetched) for crawl in self.crawls]

    @property
    def ratios(self) -> list[float]:
        """Return for each seed the ratio of two crawls, with harvest to without: the fetched pages of the part that
        looks like a trap."""
        base = {crawl.trial.seed: crawl.own for crawl in self.bases}
        return [crawl.own / max(1, base[crawl.trial.seed]) for crawl in self.crawls if crawl.trial.seed in base]

    @property
    def good(self) -> bool | None:
        """Return True if all bounds are kept, and None if there are none, as for a look-alike without harvest. A crawl
        that ended before the required number of fetches is not good."""
        if self.trap:
            return all(
                crawl.fetched >= crawl.wanted and crawl.share >= (REAL_OF_FEW if crawl.waited < BATCH else REAL)
                for crawl in self.crawls
            )
        ratios = self.ratios
        return _mean(ratios) >= MEAN and min(ratios) >= LEAST if ratios else None

    def figures(self) -> dict[str, Any]:
        """Return the figures as one row."""
        return {
            "measure": "trap" if self.trap else "look-alike",
            "shape": self.shape,
            "order": self.order,
            "value": self.value,
            "processes": self.processes,
            # These lists have one number for each crawl.
            "seeds": [crawl.trial.seed for crawl in self.crawls],
            "fetched": [crawl.fetched for crawl in self.crawls],
            "wanted": [crawl.wanted for crawl in self.crawls],
            "real": [crawl.real for crawl in self.crawls],
            "waited": [crawl.waited for crawl in self.crawls],
            "shares": [round(share, 4) for share in self.shares],
            "mean": round(_mean(self.shares), 4),
            "least": round(min(self.shares), 4),
            "of_without_harvest": [round(ratio, 4) for ratio in self.ratios] or None,
            "good": self.good,
            "seconds": round(sum(crawl.seconds for crawl in self.crawls), 2),
        }


def without_harvest(trial: TrapTrial) -> TrapTrial | None:
    """Return the crawl by a value without harvest with which a crawl of a look-alike is compared. None if the value has
    no harvest, or nothing else."""
    others = without(trial.value, HARVEST)
    if trial.kind.trap or others in ("", " ".join(trial.value.split())):
        return None
    return dataclasses.replace(trial, value=others)


def rows(crawls: Iterable[TrapCrawl]) -> list[Row]:
    """Return one row for each shape, order, value and number of processes, in the order of their first occurrence."""
    found: dict[tuple[str, str, str, int], Row] = {}
    done = {crawl.trial: crawl for crawl in crawls}
    for trial, crawl in done.items():
        key = (trial.shape, trial.order, trial.value, trial.processes)
        row = found.setdefault(key, Row(*key))
        row.crawls.append(crawl)
        base = without_harvest(trial)
        if base in done:
            row.bases.append(done[base])
    return list(found.values())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
