"""Benchmark of robots.txt and sitemaps as claims: their cost for new hosts, and for hosts with known ones."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.model import KINDS, Claim, Fetched, Kind, Resource
from graphbrain.brain.brain import Brain
from graphbrain_lab.bench import crawl

__all__ = ["CALLS", "HOSTS", "resources"]

HOSTS = 10_000
"""The number of hosts that are new at once."""
KNOWN, PAGES_EACH = 1_000, 45
"""The hosts, and the pages of each, with which calls for all kinds are compared with calls for pages alone."""
CALLS, WARM_UP, AT_ONCE = 300, 50, 10
"""Measured calls for each set of kinds, calls before them, and claims of a call."""
MET_AT_ONCE, NEW_HOSTS = 100, 50
WAIT = 0.05
ASKED: tuple[Kind, ...] = ("page", "robots", "sitemap")
RULES = b"User-agent: *\nDisallow: /private/\n"


def resources(brain: Brain, hosts: int = HOSTS, calls: int = CALLS) -> list[dict[str, Any]]:
    """Measure claims of robots.txt and sitemaps beside pages, with a delay of one second.

    The figures are those of new hosts, by calls of 100 claims, until each robots.txt is reported; of one new host
    beside 1,000 known ones; and of calls of 10 claims on 1,000 hosts whose robots.txt and sitemaps are known, for pages
    alone and for all kinds, in random turns, with their ratio.

    Args:
        brain: An empty brain.
        hosts: The number of hosts that are new at once.
        calls: The number of measured calls for each set of kinds.

    Raises:
        BadInput: The brain is not empty.
    """
    crawl.empty(brain)
    met = _meeting(brain, hosts, 2, set())
    known_keys: set[str] = set()
    _meeting(brain, KNOWN, PAGES_EACH, known_keys)
    one = _one_by_one(brain, known_keys)
    _become_known(brain, known_keys)
    return [met, one, *_compared(brain, calls)]


def _meeting(brain: Brain, hosts: int, pages: int, known_keys: set[str]) -> dict[str, Any]:
    """Seed hosts, and claim and report until each robots.txt is reported. Add the keys of robots.txt and sitemaps to
    `known_keys`."""
    # Seed the hosts.
    brain.clear()
    brain.remake(delay_seconds=1.0)
    # The names differ between meetings: for a minute a process does not look again for the sitemaps of a host.
    urls = [f"http://h{host}.of-{hosts}.example/{page}" for page in range(pages) for host in range(hosts)]
    for start in range(0, len(urls), 5_000):
        brain.seed(urls[start : start + 5_000])
    # Claim and report.
    taken: Counter[Kind] = Counter()
    laps = list[float]()
    began = time.perf_counter()
    while taken["robots"] < hosts:
        claims = _timed(brain, MET_AT_ONCE, ASKED, laps)
        taken.update(claim.kind for claim in claims)
        known_keys |= _report(brain, claims)
    seconds = time.perf_counter() - began
    return {
        "measure": "resources: hosts that are met at once",
        "hosts": hosts,
        "seconds": round(seconds, 1),
        "claims": dict(taken),
        **_times(laps),
    }


def _one_by_one(brain: Brain, known_keys: set[str]) -> dict[str, Any]:
    """Measure new hosts beside known ones: the time from the request of a page until its robots.txt is reported."""
    whole = []
    for number in range(NEW_HOSTS):
        url = f"http://new{number}.example/"
        brain.seed([url])
        brain.crawl_now([url])
        began = time.perf_counter()
        while not (claims := brain.next_urls(AT_ONCE, kinds=ASKED, now_only=True)):
            time.sleep(WAIT)
        known_keys |= _report(brain, claims)
        whole.append(time.perf_counter() - began)
    return {"measure": "resources: a new host beside known ones", "hosts": NEW_HOSTS, **_times(whole, "met_ms")}


def _become_known(brain: Brain, known_keys: set[str]) -> None:
    """Claim and report until the robots.txt and the sitemap of each host are known."""
    while len(known_keys) < 2 * (KNOWN + NEW_HOSTS):
        claims = brain.next_urls(MET_AT_ONCE, kinds=ASKED)
        known_keys |= _report(brain, claims)
        if not claims:
            time.sleep(WAIT)


def _compared(brain: Brain, calls: int) -> list[dict[str, Any]]:
    dice = random.Random(1)
    laps: dict[tuple[Kind, ...], list[float]] = {KINDS[:1]: [], ASKED: []}
    for number in range(calls + WARM_UP):
        turns = list(laps)
        dice.shuffle(turns)
        for kinds in turns:
            _report(brain, _timed(brain, AT_ONCE, kinds, laps[kinds] if number >= WARM_UP else []))
    alone, every = (_times(each) for each in laps.values())
    ratio = {name: round(every[name] / alone[name], 2) for name in ("next_ms_p50", "next_ms_p99")}
    load = round(os.getloadavg()[0], 1)
    return [
        {"measure": "resources: pages alone", "hosts": KNOWN, **alone},
        {"measure": "resources: all kinds", "hosts": KNOWN, **every},
        {"measure": "resources: all kinds against pages alone", **ratio, "load": load},
    ]


def _timed(brain: Brain, n: int, kinds: tuple[Kind, ...], laps: list[float]) -> list[Claim]:
    """Return the claims of a call, whose seconds are added to `laps`."""
    began = time.perf_counter()
    claims = list(brain.next_urls(n, kinds=kinds))
    laps.append(time.perf_counter() - began)
    if not claims:
        time.sleep(WAIT)
    return claims


def _times(laps: list[float], name: str = "next_ms") -> dict[str, float]:
    return {f"{name}_p{round(100 * q)}": round(1_000 * float(np.quantile(laps, q)), 2) for q in (0.5, 0.99)}


def _report(brain: Brain, claims: Sequence[Claim]) -> set[str]:
    """Report pages without links, robots.txt that forbid a folder, and missing sitemaps. Return the keys of the
    robots.txt and sitemaps."""
    reports = [_item(claim) for claim in claims]
    if refused := [answer for answer in brain.report(reports) if not answer.accepted]:
        raise BadInput(f"The brain refused a report of {refused[0].url}: {refused[0].reason}.")
    return {claim.key for claim in claims if claim.kind != "page"}


def _item(claim: Claim) -> Fetched | Resource:
    if claim.kind == "page":
        return Fetched(claim.url, (), claim, body=claim.url.encode())
    found = RULES if claim.kind == "robots" else None
    return Resource(claim.url, claim, 404 if found is None else 200, found)
