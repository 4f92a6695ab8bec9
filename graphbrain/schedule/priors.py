"""The priors of pages before they were ever visited twice, learned from the crawl's own first re-visits.

Each page stores the time between its first and its second visit, and whether it had changed. `change_rate.fit_priors`
fits the priors to a sample of these: one prior for the crawl, and one for each host with enough re-visits. The (:Brain)
stores the priors.
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
"""The least number of first re-visits from which priors are fitted."""
SAMPLE = 5_000
RANGE = 20_000
MOST_HOSTS = 300
CRAWL = ("prior_shape", "prior_scale", "prior_slope")
HOSTS = ("prior_hosts", "prior_host_shapes", "prior_host_scales", "prior_host_slopes")
NO_PRIORS: Mapping[str, Any] = dict.fromkeys((*CRAWL, *HOSTS, "prior_seen", "prior_tried"))
"""The properties of the brain of an empty graph."""


def read_priors(brain: Mapping[str, Any]) -> tuple[Prior, dict[str, Prior]]:
    """Return the prior of the crawl and the priors of hosts, from the properties of the (:Brain)."""
    if brain.get("prior_shape") is None:
        return PRIOR, {}
    columns = [brain.get(name) or () for name in HOSTS]
    priors = {host: Prior(*facts) for host, *facts in zip(*columns, strict=True)}
    return Prior(*(brain[name] for name in CRAWL)), priors


def properties(crawl: Prior, hosts: Mapping[str, Prior], seen: int) -> dict[str, Any]:
    """Return priors as properties of the (:Brain). `seen`: the number of first re-visits that they were fitted to."""
    columns = [list(hosts), *([getattr(p, name) for p in hosts.values()] for name in ("shape", "scale", "slope"))]
    of_hosts = dict(zip(HOSTS, columns, strict=True))
    return {**dict(zip(CRAWL, (crawl.shape, crawl.scale, crawl.slope), strict=True)), **of_hosts, "prior_seen": seen}


def differs(new: Prior, old: Prior) -> bool:
    """Return whether pages that follow the new prior would wait in other lanes."""
    class_ = 1.0 / lanes.PER_OCTAVE
    apart = (np.log2(new.rate / old.rate), np.log2(new.shape / old.shape), 5.0 * (new.slope - old.slope))
    return bool(np.abs(apart).max() > class_)


def fit(graph: Graph, rule: Rule, dice: random.Random) -> tuple[Prior, dict[str, Prior], int] | None:
    """Return the crawl's prior, the priors of hosts, and the number of first re-visits in the sample; None when the
    sample is too small."""
    rows = _sample(graph, rule, dice)
    if len(rows) < FEWEST:
        return None
    # The facts of the re-visits, by column; each host has a number.
    names = sorted({row.host for row in rows})
    number_of = {name: index for index, name in enumerate(names)}
    host = np.array([number_of[row.host] for row in rows])
    days, changed = np.array([row.days for row in rows]), np.array([row.changed for row in rows], dtype=bool)
    score = np.array([row.value for row in rows], dtype=np.float64)
    relevance = np.array([np.nan if row.relevance is None else row.relevance for row in rows], dtype=np.float64)
    weight = np.array([row.weight for row in rows], dtype=np.float64)
    value = lanes.weighed(rule, score, relevance, weight)
    crawl, host_priors = change_rate.fit_priors(host, days, changed, PRIOR, value)
    # Only the hosts with the most re-visits keep a prior, since one node stores them all.
    counts = np.bincount(host, minlength=len(names))
    largest = sorted(host_priors, key=lambda number: (-counts[number], number))[:MOST_HOSTS]
    return crawl, {names[number]: host_priors[number] for number in largest}, len(rows)


def _sample(graph: Graph, rule: Rule, dice: random.Random) -> list[Any]:
    """Return rows of visits/firsts: first re-visits, from ranges of ids in random order."""
    last = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    starts = list(range(0, (last or 0) + 1, RANGE))
    dice.shuffle(starts)
    # Read ranges until the sample is large enough.
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
