"""Processes that hold claims of each kind, or write a sitemap's entries, and end by kill -9."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from graphbrain import Brain, Claim, Fetched, Resource
from graphbrain.base.model import KINDS, RESOURCE_KINDS
from graphbrain.frontier.claims import sitemaps
from graphbrain.service.client import shapes
from tests.integration.conftest import HandClock
from tests.plugin import PATIENCE, Neo4j

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = """
import json, sys, time
from graphbrain import Brain, Claim, Resource
from graphbrain.brain import sitemaps as writer
from graphbrain.frontier.claims import sitemaps

given = json.loads(sys.stdin.readline())
at, act, body = given.pop("at"), given.pop("act"), given.pop("body").encode()
brain = Brain.open(**given, crawl="test", auto_tend=False, clock=lambda: at)

def show(what):
    print(json.dumps(what), flush=True)

claims = list(brain.next_urls(10, kinds=("page", "robots", "sitemap", "link")))
if act == "hold":
    show([claim.as_dict() for claim in claims])
    time.sleep(1e6)
(claim,) = claims
real, batches = sitemaps.go_on, 0

def stop(*given):
    global batches
    batches += 1
    if batches == 4:  # the entries of this batch are written, and the transaction that records it is open
        show([claim.as_dict()])
        time.sleep(1e6)
    return real(*given)

sitemaps.go_on, writer.PASS_BATCH = stop, 10
brain.report([Resource(claim.url, claim, 200, body)])
"""
SITE, NEW, OUTSIDE = "https://s.org/", "https://r.org/", "https://o.org/x"

pytestmark = pytest.mark.long
Make = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]


@contextmanager
def killed(neo4j: Neo4j, at: float, act: str, body: bytes = b"") -> Iterator[list[Claim]]:
    """The claims of a process that was killed while it held them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHBRAIN_")}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**kept, "PYTHONPATH": str(ROOT)},
    )
    given = {"uri": neo4j.uri, "user": neo4j.user, "password": neo4j.password, "at": at, "act": act}
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({**given, "body": body.decode()}) + "\n")
        process.stdin.flush()
        told = json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)
    yield [shapes.read(Claim, each) for each in told]


@pytest.fixture
def brain(make_brain: Make, clock: HandClock) -> Brain:
    """A brain with one claim of each kind but a page: of two hosts, and of a URL outside the scope."""
    brain = make_brain(order="breadth_first", revisit_seconds=0, allow_hosts="s.org r.org")
    brain.set_robots(SITE, "Sitemap: /s.xml")
    brain.seed([SITE])
    (page,) = brain.next_urls(10, kinds=KINDS)
    brain.report([Fetched(SITE, [OUTSIDE], page, body=b"1")])
    clock.pass_(1.0)
    return brain


def listed(count: int) -> bytes:
    return b"\n".join(b"%s%d" % (SITE.encode(), number) for number in range(count))


def by_kind(claims: Sequence[Claim]) -> dict[str, Claim]:
    found = {claim.kind: claim for claim in claims}
    assert len(found) == len(claims), "one of each kind at most"
    return found


def test_claims_of_each_kind_outlive_their_holder(
    brain: Brain, neo4j: Neo4j, second: Brain, clock: HandClock, ask: Ask
) -> None:
    brain.seed([NEW])
    assert brain.check_links() == 1
    with killed(neo4j, clock.at, "hold") as held:
        lost = by_kind(held)
        assert set(lost) == {*RESOURCE_KINDS}
        assert not brain.next_urls(10, kinds=KINDS) and not brain.next_urls(10, kinds=KINDS).finished
        clock.pass_(brain.settings.lease_seconds + 1.0)
        found = by_kind([*brain.next_urls(10, kinds=KINDS), *second.next_urls(10, kinds=KINDS)])
    assert {kind: claim.key for kind, claim in found.items()} == {kind: claim.key for kind, claim in lost.items()}
    assert {claim.token for claim in found.values()}.isdisjoint(claim.token for claim in lost.values())
    for claim in lost.values():
        assert not brain.report([Resource(claim.url, claim, 404)])[0].accepted, "the lapsed claim is worth nothing"
    bodies = {"robots": b"User-agent: *\nDisallow: /no\n", "sitemap": listed(5), "link": None}
    reports = [Resource(claim.url, claim, 200, bodies[kind]) for kind, claim in found.items()]
    assert [(answer.accepted, answer.outcome) for answer in brain.report(reports)] == [(True, "new")] * 3
    pages = brain.next_urls(10)
    assert {claim.url for claim in pages} == {NEW, *(f"{SITE}{number}" for number in range(5))}
    assert ask("MATCH (r:Resource) RETURN count(r.lease), count(r.counted)") == [[0, 0]]
    brain.report([Fetched(claim.url, claim=claim, body=claim.url.encode()) for claim in pages])
    assert [brain.host(name).in_flight for name in ("s.org", "r.org", "o.org")] == [0, 0, 0]
    assert [claim.url for claim in brain.next_urls(9, kinds=KINDS)] == [f"{NEW}sitemap.xml"], (
        "guessed, and nothing else"
    )
    assert brain.audit().ok


def test_entries_that_a_killed_process_wrote_are_not_written_again(
    brain: Brain, neo4j: Neo4j, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = listed(100)
    with killed(neo4j, clock.at, "write", body) as held:
        (claim,) = held
    assert ask("MATCH (r:Resource) WHERE r.kind = 'sitemap' RETURN r.lease, r.written") == [[claim.token, 30]]
    assert ask("MATCH (p:Page {host: 's.org'}) RETURN count(p)") == [[41]], (
        "the entries of the batch that was open, too"
    )
    monkeypatch.setattr("graphbrain.brain.sitemaps.PASS_BATCH", 10)
    real, batches = sitemaps.go_on, list[int]()

    def noted(*given: Any) -> frozenset[str]:
        batches.append(given[1][claim.key].written)
        return real(*given)

    monkeypatch.setattr(sitemaps, "go_on", noted)
    assert brain.report([Resource(claim.url, claim, 200, body)])[0].outcome == "new"
    assert batches == [40, 50, 60, 70, 80, 90, 100]
    assert ask("MATCH (p:Page {host: 's.org'}) RETURN count(p)") == [[101]]
    assert brain.next_urls(200, kinds=KINDS)[:].count(claim) == 0
    assert ask("MATCH (r:Resource {kind: 'sitemap'}) RETURN r.lease, r.written, r.entries") == [[None, None, 100]]
    assert brain.audit().ok
