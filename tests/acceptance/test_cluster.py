"""A cluster whose leader changes, lags, or is out of service: nothing is lost or doubled, nothing stale is followed."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import GraphUnavailable
from graphbrain.graph.statements import names, statement
from tests.acceptance.cli.test_cut import CASES, A, B, C, D, _claimed, _linked, _state
from tests.acceptance.cluster import (
    BEGIN,
    COMMIT,
    INVALID_BOOKMARK,
    NOT_A_LEADER,
    RUN,
    UNAVAILABLE,
    Cluster,
    Member,
    Transaction,
)
from tests.plugin import Neo4j
from tests.verbs import neighbours

ANY = {name for name in names() if statement(name).reads == "any"}


@pytest.fixture
def cluster(neo4j: Neo4j) -> Iterator[Cluster]:
    """Two members before one server; the first leads."""
    address = urlsplit(neo4j.uri)
    server = (address.hostname or "127.0.0.1", address.port or 7687)
    with Cluster(server, server) as cluster:
        yield cluster
    no_shift = dict.fromkeys(("clock_by", "clock_shift", "clock_shift_at", "clock_seen"))
    with neo4j.open(crawl="test") as brain:  # other tests have the time of the server
        brain.graph.write(lambda tx: tx.do("brain/note", notes=no_shift), "brain/note")


def opened(neo4j: Neo4j, cluster: Cluster, **settings: Any) -> Brain:
    """The brain that the fixture `brain` has emptied, through the cluster."""
    given = {"auto_tend": False, "limit_seconds": 60, **settings}
    return Brain.open(uri=cluster.uri, user=neo4j.user, password=neo4j.password, **given)


# ---------------------------------------------------------------- where it is read


@pytest.mark.usefixtures("brain")
def test_verbs_read_at_the_leader_and_analysts_at_a_follower(neo4j: Neo4j, cluster: Cluster) -> None:
    leader, follower = cluster.members
    with opened(neo4j, cluster) as routed:
        claims = _linked(routed)
        routed.seed([D])
        held = routed.next_urls(3)
        routed.renew(held)
        routed.give_back(held)
        routed.hint([A])
        routed.crawl_now([B])
        routed.set_host("a.example", delay=0.5)
        routed.change(max_errors=7)
        routed.tend()
        routed.settle()
        routed.session.refresh()
        assert claims
        assert routed.page(A).key
        assert routed.stats()["pages"] == 4
        assert routed.audit().ok
        assert [work for work in follower.seen if work.reads] == []
        assert [work for work in leader.seen if work.reads] == []

        assert {page.url for page in routed.find()} == {A, B, C, D}
        assert neighbours(routed, A)
        assert routed.ask("states").rows
        routed.findings()
        assert routed.summary()
    sent = {name for work in follower.seen for name in work.statements if not name.startswith("analyst/")}
    assert len(sent) > 5
    assert sent <= ANY
    assert all(work.reads and work.bookmarks for work in follower.seen), "a follower may lag behind this process"


@pytest.mark.usefixtures("brain")
def test_a_question_is_ended_where_it_is_answered(neo4j: Neo4j, cluster: Cluster) -> None:
    from graphbrain.graph.connection import Cancellation

    with opened(neo4j, cluster) as routed:
        cancellation = Cancellation(60.0)
        with routed.graph.cancelled_by(cancellation):
            routed.ask("states")
        follower = cluster.members[1]
        assert f"127.0.0.1:{follower.port}" in cancellation.servers
        assert routed.graph.terminate(cancellation) == 0
        assert "brain/terminate" in follower.seen[-1].statements


# ---------------------------------------------------------------- the leader changes


def _lapsed(brain: Brain) -> Any:
    claims = _claimed(brain)
    brain.renew(claims, 0.0)
    time.sleep(0.05)
    return claims


def _swept(brain: Brain, _: Any) -> None:
    """The number is not returned: leases that a commit has ended whose answer was lost are not counted again."""
    brain.tend(0.0)


def _changed(brain: Brain, _: Any) -> Any:
    brain.change(max_errors=3)
    found = brain.settings.max_errors
    brain.change(max_errors=5)
    return found


def _settled(brain: Brain, _: Any) -> Any:
    return brain.settle().pages


Verb = tuple[Callable[[Brain], Any], Callable[[Brain, Any], Any], str]
VERBS: dict[str, Verb] = {
    "claim": (*CASES["next_urls"], "claims/take"),
    "report": (*CASES["report"], "report"),
    "renew": (*CASES["renew"], "claims/renew"),
    "release": (*CASES["give_back"], "claims/release"),
    "sweep": (_lapsed, _swept, "claims/sweep"),
    "settle": (_linked, _settled, "settle"),
    "settings": (_linked, _changed, "brain/change"),
    "seed": (*CASES["seed"], "pages/seed"),
    "push": (*CASES["push"], "cash/push"),
}
MOMENTS = {"begin": (BEGIN, False), "first": (RUN, False), "commit": (COMMIT, False), "committed": (COMMIT, True)}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("verb", VERBS)
def test_the_leader_changes_in_a_transaction(
    verb: str, moment: str, brain: Brain, neo4j: Neo4j, cluster: Cluster
) -> None:
    """At its beginning, at a statement, at its commit, and after a commit whose answer is that of a former leader."""
    prepare, act, work = VERBS[verb]
    tag, cluster.answered_first = MOMENTS[moment]
    wanted_answer, wanted = act(brain, prepare(brain)), _state(brain)
    with opened(neo4j, cluster) as routed:
        given = prepare(brain)
        cluster.fail_once(NOT_A_LEADER, work, tag, lambda: cluster.lead(cluster.members[1]))
        answer = act(routed, given)
        assert cluster.failures == 1, "the leader never changed"
        assert answer == wanted_answer
        assert routed.graph.counts["retries NotALeader"] >= 1
    assert _state(brain) == wanted
    assert brain.audit(None).ok


@pytest.mark.usefixtures("brain")
def test_it_waits_until_the_cluster_is_in_service(neo4j: Neo4j, cluster: Cluster) -> None:
    with opened(neo4j, cluster) as routed:
        cluster.refuse(UNAVAILABLE, 3)
        assert routed.seed([A, B]).created == 2
        assert cluster.failures == 3
        assert routed.graph.counts["retries DatabaseUnavailable"] == 3

        cluster.routes = False
        routed.graph._renew_driver(routed.graph._driver)  # it knows no routing table
        threading.Timer(1.0, setattr, (cluster, "routes", True)).start()
        assert len(routed.next_urls(2)) == 2
        assert (
            routed.graph.counts["retries ServiceUnavailable"] + routed.graph.counts["retries RoutingServiceUnavailable"]
        )


@pytest.mark.usefixtures("brain")
def test_a_former_leader_is_no_use_to_a_connection_that_does_not_route(neo4j: Neo4j, cluster: Cluster) -> None:
    uri = f"bolt://127.0.0.1:{cluster.members[0].port}"
    with Brain.open(uri=uri, user=neo4j.user, password=neo4j.password, auto_tend=False, limit_seconds=1) as direct:
        cluster.lead(cluster.members[1])
        with pytest.raises(GraphUnavailable, match=r"not the cluster's leader.*neo4j://"):
            direct.seed([A])


# ---------------------------------------------------------------- bookmarks


@pytest.mark.usefixtures("brain")
def test_bookmarks_outlive_the_driver_and_are_dropped_when_they_are_refused(neo4j: Neo4j, cluster: Cluster) -> None:
    with opened(neo4j, cluster) as routed:
        routed.seed([A, B])
        bookmarks = routed.graph._bookmarks
        assert bookmarks is not None
        before = bookmarks.get_bookmarks()
        assert before
        routed.graph._renew_driver(routed.graph._driver)
        assert bookmarks.get_bookmarks() == before
        cluster.members[1].seen.clear()
        list(routed.find())
        assert cluster.members[1].seen[0].bookmarks

        def old(transaction: Transaction) -> bool:
            return transaction.bookmarks and bool(before & bookmarks.get_bookmarks() or cluster.failures == 0)

        cluster.refuse(INVALID_BOOKMARK, 1, old)
        assert len(routed.next_urls(2)) == 2
        assert cluster.failures == 1
        assert routed.graph.counts["bookmarks dropped"] == 1


# ---------------------------------------------------------------- members' clocks


@pytest.mark.parametrize("ahead", [-120_000, 120_000])
def test_time_goes_on_when_a_leader_with_another_clock_takes_over(
    ahead: int, brain: Brain, neo4j: Neo4j, cluster: Cluster
) -> None:
    """Forward at its pace, in the processes that run, in those that start, and when the first leader is back."""
    first, second = cluster.members
    second.ahead = ahead
    brain.seed([A, B])
    with opened(neo4j, cluster, lease_seconds=60, change_settings=True) as one, opened(neo4j, cluster) as two:
        begun, started = one.now(), time.monotonic()

        def off(time_of: Brain) -> float:
            return time_of.now() - begun - (time.monotonic() - started)

        held = one.next_urls(2)
        assert len(held) == 2
        for leader in (second, first, second):
            cluster.lead(leader)
            for _ in range(2):
                for brain_ in (one, two):
                    before = brain_.now()
                    brain_.session.refresh()
                    assert brain_.now() >= before
            assert one.graph.time.member == f"127.0.0.1:{leader.port}"
            assert abs(off(one)) < 10.0
            assert abs(off(two)) < 10.0
            with opened(neo4j, cluster) as fresh:
                assert abs(off(fresh)) < 10.0
            assert two.tend(0.0).swept == 0, "a lease of a minute ends as the clock jumps by two"
        assert one.session.stored.get("putting_right") is None
        assert all(one.renew(held))


@pytest.mark.usefixtures("brain")
def test_a_process_that_starts_at_another_leader_goes_on_from_the_high_water_mark(
    neo4j: Neo4j, cluster: Cluster
) -> None:
    second = cluster.members[1]
    second.ahead = -3_600_000
    with opened(neo4j, cluster) as one:
        one.session.refresh()
        one.graph.write(one.session._record_time, "brain/note")
        last = one.now()
    cluster.lead(second)
    with opened(neo4j, cluster) as two:
        assert two.now() >= last - 0.1
        two.session.refresh()
        assert two.session.stored.get("putting_right") is None
        two.session.refresh()
        assert two.session.stored["clock_by"] == f"127.0.0.1:{second.port}"
        assert two.session.stored["clock_shift"] == pytest.approx(3_600.0, abs=60.0)


# ---------------------------------------------------------------- churn


EVERY = {BEGIN: 7, RUN: 41, COMMIT: 5}
"""The leader changes at one of so many messages of a kind."""


@pytest.mark.long
def test_no_claim_is_lost_or_doubled_while_the_leader_changes_all_the_time(
    brain: Brain, neo4j: Neo4j, cluster: Cluster
) -> None:
    """Three crawlers, and a ledger outside of the brain: each page is claimed once, and its report is accepted once."""
    pages = {f"http://h{number % 7}.example/{number}" for number in range(60)}
    dice, lock = random.Random(54), threading.Lock()
    claimed, accepted = Counter[str](), Counter[str]()
    met = Counter[int]()

    def trouble(_member: Member, transaction: Transaction | None, tag: int) -> str | None:
        with lock:
            if tag not in EVERY or transaction is None or transaction.reads:
                return None
            met[tag] += 1
            if met[tag] % EVERY[tag]:
                return None
            cluster.answered_first = dice.random() < 0.5
            cluster.lead(cluster.members[cluster.leader is cluster.members[0]])
            return NOT_A_LEADER

    def crawl(crawler: Brain) -> None:
        while not (claims := crawler.next_urls(4)).finished or claims:
            with lock:
                claimed.update(claim.url for claim in claims)
            answers = crawler.report([Fetched(claim.url, [], claim, body_hash="1") for claim in claims])
            with lock:
                accepted.update(answer.url for answer in answers if answer.accepted)

    brain.seed(pages)
    with ExitStack() as stack:
        crawlers = [stack.enter_context(opened(neo4j, cluster, limit_seconds=300)) for _ in range(3)]
        cluster.trouble = trouble
        with ThreadPoolExecutor(len(crawlers)) as pool:
            for crawl_ in [pool.submit(crawl, crawler) for crawler in crawlers]:
                crawl_.result()
        cluster.trouble = lambda *_: None
    assert all(met[tag] >= 3 * often for tag, often in EVERY.items()), "the leader hardly ever changed"
    assert claimed == Counter(dict.fromkeys(pages, 1))
    assert accepted == Counter(dict.fromkeys(pages, 1))
    assert all(brain.page(url).visits == 1 for url in pages)
    assert brain.audit(None).ok
