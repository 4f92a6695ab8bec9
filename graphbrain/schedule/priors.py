"""The priors of pages before they were ever visited twice, learned from the crawl's own first re-visits.

Each page keeps how long after its first visit the second came, and whether it had changed; a sample of that is what the
priors are fitted to (`change_rate.fit_priors`), one for the crawl, and one for each host that has enough of its own.
They are stored on the (:Brain).
Statements: visits/firsts, exports/last_id.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.schedule import change_rate, lanes
from graphbrain.schedule.change_rate import PRIOR, Prior

__all__ = ["FEWEST", "NO_PRIORS", "differs", "fit", "properties", "read_priors"]

FEWEST = 200
"""First re-visits from which priors are fitted."""
SAMPLE = 5_000
RANGE = 20_000
MOST_HOSTS = 300
CRAWL = ("prior_shape", "prior_scale", "prior_slope")
HOSTS = ("prior_hosts", "prior_host_shapes", "prior_host_scales", "prior_host_slopes")
NO_PRIORS: Mapping[str, Any] = dict.fromkeys((*CRAWL, *HOSTS, "prior_seen", "prior_tried"))
"""The properties of the brain of an empty graph."""


def read_priors(brain: Mapping[str, Any]) -> tuple[Prior, dict[str, Prior]]:
    """Return the crawl's prior and the hosts', from the properties of the (:Brain)."""
    if brain.get("prior_shape") is None:
        return PRIOR, {}
    columns = [brain.get(name) or () for name in HOSTS]
    priors = {host: Prior(*facts) for host, *facts in zip(*columns, strict=True)}
    return Prior(*(brain[name] for name in CRAWL)), priors


def properties(crawl: Prior, hosts: Mapping[str, Prior], seen: int) -> dict[str, Any]:
    """Return priors as properties of the (:Brain); `seen`: first revisits they were fitted to."""
    columns = [list(hosts), *([getattr(p, name) for p in hosts.values()] for name in ("shape", "scale", "slope"))]
    own = dict(zip(HOSTS, columns, strict=True))
    return {**dict(zip(CRAWL, (crawl.shape, crawl.scale, crawl.slope), strict=True)), **own, "prior_seen": seen}


def differs(new: Prior, old: Prior) -> bool:
    """Return whether pages that follow the new prior would wait in other lanes."""
    class_ = 1.0 / lanes.PER_OCTAVE
    apart = (np.log2(new.rate / old.rate), np.log2(new.shape / old.shape), 5.0 * (new.slope - old.slope))
    return bool(np.abs(apart).max() > class_)


def fit(graph: Graph, rule: Rule, dice: random.Random) -> tuple[Prior, dict[str, Prior], int] | None:
    """Priors by a sample of the first re-visits, and how many they were; None when there are too few."""
    rows = _sample(graph, rule, dice)
    if len(rows) < FEWEST:
        return None
    names = sorted({row.host for row in rows})
    number = {name: index for index, name in enumerate(names)}
    days, changed = np.array([row.days for row in rows]), np.array([row.changed for row in rows], dtype=bool)
    worth = np.array([row.value for row in rows], dtype=np.float64)
    relevance = np.array([np.nan if row.relevance is None else row.relevance for row in rows], dtype=np.float64)
    value = lanes.weighed(rule, worth, relevance)
    group = np.array([number[row.host] for row in rows])
    crawl, own = change_rate.fit_priors(group, days, changed, PRIOR, value)
    counts = np.bincount(group, minlength=len(names))
    best = sorted(own, key=lambda one: (-counts[one], one))[:MOST_HOSTS]
    return crawl, {names[one]: own[one] for one in best}, len(rows)


def _sample(graph: Graph, rule: Rule, dice: random.Random) -> list[Any]:
    """Return rows of visits/firsts: first re-visits, from ranges of ids in random order."""
    last = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    starts = list(range(0, (last or 0) + 1, RANGE))
    dice.shuffle(starts)
    rows: list[Any] = []
    for start in starts:
        rows += graph.read(
            bound(
                Tx.records,
                "visits/firsts",
                first=start,
                end=start + RANGE,
                value=rule.standing_value,
                name=lanes.property_of(rule.standing_value),
            ),
            "visits/firsts",
        )
        if len(rows) >= SAMPLE:
            break
    return rows
