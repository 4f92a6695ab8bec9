"""A follower that has an older copy of the data, and a leader that was restored from a backup: two Neo4j servers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import GraphUnavailable
from graphbrain.graph.server import lifecycle
from tests.acceptance.cluster import Cluster
from tests.plugin import own_ports

A, B, C = (f"http://{name}.example/" for name in "abc")
MEMORY = 640
SOON = "db.transaction.bookmark_ready_timeout=1s\n"

pytestmark = pytest.mark.long


@pytest.fixture
def cluster_and_password(tmp_path: Path) -> Iterator[tuple[Cluster, str]]:
    """Two members, the leader and a follower with a copy of its data from before the test; and the password."""
    ports = own_ports()
    leader, follower = tmp_path / "leader", tmp_path / "follower"
    server = lifecycle.start(leader, memory=MEMORY, bolt_port=ports[0], http_port=ports[1])
    with Brain.open(uri=server.uri, user=server.user, password=server.password, crawl="test") as brain:
        brain.seed([A])
    lifecycle.stop(leader)
    shutil.copytree(leader, follower)
    (follower / "extra.conf").write_text(SOON, encoding="utf-8")
    try:
        server = lifecycle.start(leader, memory=MEMORY, bolt_port=ports[0], http_port=ports[1])
        others = own_ports()
        while set(others) & set(ports):
            others = [port + 7 for port in others]
        copy = lifecycle.start(follower, memory=MEMORY, bolt_port=others[0], http_port=others[1])
        with Cluster(("127.0.0.1", server.bolt_port), ("127.0.0.1", copy.bolt_port)) as cluster:
            yield cluster, server.password
    finally:
        lifecycle.stop(leader)
        lifecycle.stop(follower)


def opened(cluster: Cluster, password: str, **settings: Any) -> Brain:
    given = {"auto_tend": False, "limit_seconds": 120, "crawl": "test", **settings}
    return Brain.open(uri=cluster.uri, user="neo4j", password=password, **given)


@pytest.mark.nightly
def test_an_older_copy_deceives_nobody(cluster_and_password: tuple[Cluster, str]) -> None:
    cluster, password = cluster_and_password
    follower = cluster.members[1]
    follower.ahead = -3_600_000
    with opened(cluster, password) as brain, opened(cluster, password) as other:
        begun = other.now()
        brain.seed([B])
        claims = brain.next_urls(5)
        assert {claim.url for claim in claims} == {A, B}
        assert len(other.next_urls(5)) == 0, "a lease that the older copy does not know"
        brain.change(max_errors=2)
        brain.set_host("a.example", delay=7.0)
        other.session.refresh()
        assert other.settings.max_errors == 2
        assert other.host("a.example").delay == 7.0
        assert 0.0 <= other.now() - begun < 600.0
        answers = brain.report([Fetched(claim.url, [C], claim, body_hash="1") for claim in claims])
        assert all(answer.accepted for answer in answers)
        assert other.tend(0.0).swept == 0
        assert other.page(A).visits == 1

        # The follower has not what this process wrote, and never will: it says so, and does not show what it has.
        brain.graph.limit_seconds = 3.0
        with pytest.raises(GraphUnavailable):
            list(brain.find())
        # A process that has written nothing may see what is older.
        with opened(cluster, password) as fresh:
            fresh.graph._bookmarks = None
            assert {page.url for page in fresh.find()} == {A}
            assert fresh.page(C).key


@pytest.mark.nightly
def test_a_restored_backup_takes_the_place_of_what_was(cluster_and_password: tuple[Cluster, str]) -> None:
    cluster, password = cluster_and_password
    with opened(cluster, password) as brain:
        brain.seed([B])
        assert brain.graph._bookmarks is not None
        assert brain.graph._bookmarks.get_bookmarks()
        cluster.lead(cluster.members[1])
        brain.seed([C])
        assert brain.graph.counts["bookmarks dropped"] >= 1
        assert {claim.url for claim in brain.next_urls(5)} == {A, C}
