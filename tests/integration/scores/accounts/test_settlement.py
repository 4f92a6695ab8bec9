"""The settling pass: exact afterwards, sound at every commit, whatever changes or dies meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j as driver
import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.runtime import memory
from graphbrain.base.urls.normalization import key_of
from graphbrain.brain import exclusive_lock, upkeep
from graphbrain.frontier import discovery
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts import settlement
from graphbrain.scores.accounts.partition import Cost
from graphbrain.scores.accounts.settlement import Goal
from tests.integration.conftest import Going, HandClock, crowd, lock_awaited, sound
from tests.plugin import Neo4j, eventually
from tests.reference.exported import export
from tests.reference.linear import solve, worst_error
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
pytestmark = pytest.mark.usefixtures("unspent")
Ask = Callable[..., list[list[object]]]
URLS = [f"http://h{n % 9}.org/{n}" for n in range(120)]


def crawl(brain: Brain, seed: int = 1, urls: list[str] | None = None) -> None:
    """Half of the pages are fetched; links are dense near the front; nothing is pushed."""
    dice = np.random.default_rng(seed)
    urls = URLS if urls is None else urls
    batch = []
    for url in urls[: len(urls) // 2]:
        places = (dice.random(dice.integers(1, 12)) ** 2 * len(urls)).astype(int)
        batch.append(Fetched(url, [urls[place] for place in places], body_hash="x", relevance=float(dice.random())))
    brain.report(batch)


def exact(neo4j: Neo4j, alpha: float = 0.15, intra: float = 1.0) -> float:
    """The worst relative error of both scores against the direct solve."""
    there = export(neo4j, intra)
    hub, authority = solve(there.web, alpha)
    return max(worst_error(there.hub, hub), worst_error(there.authority, authority))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many batches on a small web."""
    monkeypatch.setattr(settlement, "COST", Cost(60.0, 4.0, 0.1))


@pytest.mark.parametrize(("alpha", "intra"), [(0.15, 1.0), (0.0, 1.0), (0.15, 0.25), (0.15, 0.0)])
@pytest.mark.usefixtures("small_batches")
def test_scores_are_the_solution_of_the_linear_system(
    make_brain: MakeBrain, neo4j: Neo4j, alpha: float, intra: float
) -> None:
    brain = make_brain(alpha=alpha, intra_host_weight=intra, eps=1e-7)
    crawl(brain)
    brain.set_page(URLS[3], payout=5.0)
    done = brain.settle(tolerance=1e-12)
    assert done.pages == len(export(neo4j).urls)
    assert (done.left, done.residual <= 1e-12, done.sides > 0) == (0, True, True)
    assert exact(neo4j, alpha, intra) < 1e-6
    sound(brain)  # every account against its neighbours, every mark against its account
    assert brain.settle(tolerance=1e-12).sides == 0


@pytest.mark.usefixtures("small_batches")
def test_it_goes_on_from_where_pushes_and_changes_have_left_it(brain: Brain, neo4j: Neo4j) -> None:
    crawl(brain)
    brain.tend(None)
    crawl(brain, seed=2)
    brain.unlink(URLS[0], neighbours(brain, URLS[0])[0][0])
    brain.settle()
    assert exact(neo4j) < 1e-3
    sound(brain)
    assert brain.tend(None).pushes == 0


def changing(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Let `change` happen when the goal is found and nothing is written yet."""
    find = settlement.find_goal

    def found(*args: object, **more: object) -> Goal:
        goal = find(*args, **more)  # type: ignore[arg-type]
        change()
        return goal

    monkeypatch.setattr(settlement, "find_goal", found)


@pytest.mark.usefixtures("small_batches")
def test_what_changes_after_the_export_is_left_to_pushes(
    brain: Brain, second: Brain, neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(brain)

    def change() -> None:
        second.forget(URLS[0])
        second.unlink(URLS[1], neighbours(second, URLS[1])[0][0])
        second.link(URLS[2], "http://new.org/")
        second.report([Fetched(URLS[100], [URLS[5], "http://newer.org/"], body_hash="x")])
        second.set_page(URLS[7], relevance=0.99)

    with monkeypatch.context() as patch:
        changing(patch, change)
        brain.settle()
    sound(brain)
    brain.tend(None)
    brain.settle()
    assert exact(neo4j) < 1e-3


@pytest.mark.usefixtures("small_batches")
def test_links_that_go_elsewhere_are_seen_though_no_weight_has_changed(
    brain: Brain, second: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pages exchange one of their links each: all four have as many links as before."""
    crawl(brain)
    one, other = URLS[1], URLS[2]
    mine, yours = (set(neighbours(second, page)[0]) for page in (one, other))
    a, b = min(mine - yours - {other}), min(yours - mine - {one})

    def change() -> None:
        for page, old, new in ((one, a, b), (other, b, a)):
            second.unlink(page, old)
            second.link(page, new)

    with monkeypatch.context() as patch:
        changing(patch, change)
        assert brain.settle().sides > 0
    sound(brain)


@pytest.mark.usefixtures("small_batches")
def test_only_links_that_have_changed_are_read_again(
    brain: Brain, second: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(brain)
    one = URLS[1]
    gone = neighbours(second, one)[0][0]
    read: list[str] = []

    def find(tx: Tx, statement: str, ledger: Any, pages: Any) -> Any:
        read.extend(f"{statement} {page}" for page in ledger.ids[pages].tolist())
        return links(tx, statement, ledger, pages)

    links = settlement._read
    with monkeypatch.context() as patch:
        patch.setattr(settlement, "_read", find)
        changing(patch, lambda: second.unlink(one, gone))
        brain.settle()
    at = second.graph.read(lambda tx: discovery.find(tx, [key_of(one), key_of(gone)]), "test")
    changed, left = at[key_of(one)], at[key_of(gone)]
    out = [each for each in read if each.startswith("links/packed_out")]
    assert out == [f"links/packed_out {changed}"]
    into = {each for each in read if each.startswith("links/packed_in")}
    still = second.graph.read(
        lambda tx: discovery.find(tx, [key_of(url) for url in neighbours(second, one)[0]]), "test"
    )
    assert into <= {f"links/packed_in {page}" for page in still.values()}, "whether these are still linked is not known"
    assert f"links/packed_in {left}" not in into, "it has lost a link, and all others are known"
    sound(brain)


@pytest.mark.usefixtures("small_batches")
def test_pages_of_whose_links_nothing_is_known_are_settled_too(brain: Brain, neo4j: Neo4j, ask: Ask) -> None:
    """As after an import."""
    crawl(brain)
    ask("MATCH (p:Page) SET p.links_sum = null")
    assert brain.settle(tolerance=1e-12).left == 0
    assert exact(neo4j) < 1e-3
    sound(brain)
    brain.unlink(URLS[1], neighbours(brain, URLS[1])[0][0])
    assert ask("MATCH (p:Page) WHERE p.links_sum IS NOT NULL RETURN count(*)") == [[0]], "nor is it known by a change"


@pytest.mark.long
@pytest.mark.usefixtures("small_batches")
def test_reports_pushes_and_claims_go_on_beside_it(brain: Brain, second: Brain, neo4j: Neo4j) -> None:
    """All accounts are right whenever they are looked at, by audits that go on beside it, too."""
    crawl(brain)
    audits = pushes = 0

    def others(going: Going) -> None:
        nonlocal pushes
        dice = np.random.default_rng(4)

        def any_page() -> str:
            return URLS[int(dice.integers(0, len(URLS)))]

        while going():
            claims = second.next_urls(3)
            targets = [any_page() for _ in range(5)]
            second.report([Fetched(claim.url, targets, claim, body_hash="y") for claim in claims])
            second.report([Fetched(URLS[int(dice.integers(0, 60))], targets, body_hash="z")])
            pushes += second.tend(pages=[any_page(), any_page()]).pushes
            second.forget(any_page())

    def look(going: Going) -> None:
        nonlocal audits
        with neo4j.open(crawl="test", auto_tend=False) as third:
            while going():
                found = third.audit(None)
                assert not {"accounts", "weights", "links sums"} & set(found.figures["wrong"]), found.findings
                audits += bool(found.figures["settling"])

    with crowd(others, look) as going:
        for made in range(60):
            if not going() or (made >= 4 and audits >= 4 and pushes):
                break
            brain.settle()
    assert audits >= 4, "no pass was looked at"
    assert pushes, "no worker has pushed"
    sound(brain)
    brain.settle(tolerance=1e-12)
    assert exact(neo4j) < 1e-3


@pytest.mark.usefixtures("small_batches")
def test_a_pass_that_is_stopped_has_written_nothing_wrong(brain: Brain, neo4j: Neo4j) -> None:
    crawl(brain)
    asked = iter(range(1000))
    done = brain.settle(stop=lambda: next(asked) > 5)
    assert done.sides > 0
    sound(brain)
    assert brain.tend(None).settled
    assert exact(neo4j) < 0.2


class Died(Exception):
    """Stands for a process that is killed."""


def die(what: str, done: int, of: int) -> None:
    if what == "write" and 4 * done > of:
        raise Died


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("failed", [False, True])
def test_a_pass_that_died_is_made_again_by_whoever_tends_next(
    brain: Brain, second: Brain, neo4j: Neo4j, clock: HandClock, ask: Ask, monkeypatch: pytest.MonkeyPatch, failed: bool
) -> None:
    crawl(brain)
    if not failed:  # a process that is killed says no more
        monkeypatch.setattr(exclusive_lock.Hold, "lapse", lambda _: None)
    with pytest.raises(Died):
        brain.settle(progress=die)
    assert ask("MATCH (b:Brain) RETURN b.settling IS NOT NULL") == [[True]]
    assert brain.audit(None).ok, "the audit excuses the marks of a pass under way, and nothing else"
    if not failed:
        assert second.settle().pages == 0, "it might still live"
        assert second.tend(0.3).pushes == 0, "pushes would be in its way"
        clock.pass_(200.0)
    assert second.tend(None).settled
    assert ask("MATCH (b:Brain) RETURN b.settling IS NULL") == [[True]]
    sound(brain)
    assert exact(neo4j) < 1e-3


@pytest.mark.usefixtures("small_batches")
def test_a_pass_that_was_silent_too_long_writes_nothing_any_more(
    brain: Brain, second: Brain, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else marks that another pass has set right would be gone, and this process could be killed before it says so."""
    crawl(brain)
    settle, slept = settlement.settle, iter([True])
    monkeypatch.setattr(settlement, "AT_ONCE", 1)

    def late(*args: Any, **more: Any) -> settlement.SettlingStep:
        if next(slept, False):
            clock.pass_(200.0)
            assert second.settle().sides > 0
            crawl(second, seed=2)
        return settle(*args, **more)

    def die_at_once(what: str, _done: int, _of: int) -> None:
        if what == "write":
            raise Died

    monkeypatch.setattr(settlement, "settle", late)
    assert brain.settle(progress=die_at_once).sides == 0
    sound(brain)


def test_tend_makes_a_pass_when_much_is_waiting_and_pushes_otherwise(
    brain: Brain, neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(brain)
    assert brain.settle(if_cheaper=True).pages == 0
    monkeypatch.setattr(settlement, "SMALLEST", 20)
    assert brain.tend(None).settled
    assert exact(neo4j) < 1e-3, "pushes stop at eps, a pass does not"
    brain.link(URLS[0], URLS[119])
    brain.tend(None)
    assert exact(neo4j) > 1e-6


@pytest.mark.parametrize(("eps", "passes"), [(0.03, False), (1e-6, True)])
def test_a_pass_is_made_sooner_where_less_may_be_left(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch, eps: float, passes: bool
) -> None:
    """Some 160 sides wait. At eps 1e-6 cash goes round four times as often as at .03, so a quarter of 300 is enough."""
    brain = make_brain(eps=eps)
    crawl(brain)
    monkeypatch.setattr(settlement, "SMALLEST", 300)
    assert (brain.settle(if_cheaper=True).pages > 0) == passes


@pytest.mark.parametrize(("work", "counts"), [("report", True), ("settle", False)])
def test_a_batch_sees_that_others_wait_for_locks(
    brain: Brain, raw: driver.Driver, ask: Ask, work: str, counts: bool
) -> None:
    """So it makes the next ones shorter. Its own shards may wait for each other."""
    brain.seed(URLS[:2])
    pages = [page for (page,) in ask("MATCH (p:Page) RETURN id(p) ORDER BY id(p)")]

    def lock(tx: Tx) -> object:
        return tx.one("accounts/lock", ids=pages)

    def hold(tx: Tx) -> list[bool]:
        lock(tx)
        before = tx.one("brain/awaited")[0]
        waiting = pool.submit(brain.graph.write, lock, work)
        eventually(lambda: waiting.done() or lock_awaited(raw), "somebody who waits for the lock")
        return [before, waiting.done(), tx.one("brain/awaited")[0]]

    with ThreadPoolExecutor(1) as pool:
        assert brain.graph.write(hold, "settle") == [False, False, counts]


@pytest.mark.usefixtures("small_batches")
def test_a_pass_leaves_the_error_bound_that_it_promises(make_brain: MakeBrain, neo4j: Neo4j) -> None:
    for eps, intra in ((0.03, 1.0), (0.5, 0.25)):
        brain = make_brain(eps=eps, intra_host_weight=intra)
        for seed in range(3):  # also where it begins from scores that are nearly right
            crawl(brain, seed)
            brain.settle()
            bound = brain.stats()["error_bound"]
            assert bound <= 1e-7
            assert exact(neo4j, intra=intra) < 1e-6
            again = brain.settle()
            assert again.sides == 0
        brain.link("http://x.org/1", "http://x.org/2")  # far from all else: little is written
        assert 0 < brain.settle().sides <= 4
        assert brain.stats()["error_bound"] <= 1e-7
        sound(brain)


def test_whoever_tends_until_all_is_settled_ends_within_the_bound(
    make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain = make_brain(eps=1.0)
    crawl(brain)
    left = brain.tend(None, passes=False)
    assert (left.settled, left.error_bound, left.near) == (True, None, True)
    assert brain.stats()["error_bound"] > 0.1
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    done = brain.tend(None)
    assert done.settled
    assert not done.near
    assert done.error_bound == pytest.approx(brain.stats()["error_bound"])
    assert done.error_bound > 0.1
    monkeypatch.setattr(memory, "free_bytes", lambda: 1 << 30)
    brain.change(settled_bound=0)
    assert not brain.tend(None).near
    assert brain.stats()["error_bound"] > 0.1
    brain.change(settled_bound=0.02)
    done = brain.tend(None)
    assert (done.settled, done.near) == (True, True)
    assert done.error_bound == brain.stats()["error_bound"] < 1e-7
    assert done.payments > 0


def test_a_worker_ends_within_the_bound_once_in_a_while(make_brain: MakeBrain, monkeypatch: pytest.MonkeyPatch) -> None:
    brain = make_brain(eps=1.0)
    crawl(brain)
    monkeypatch.setattr(settlement, "worth_it", lambda *_: False)
    done = brain.tend(30.0, for_everybody=True)
    assert done.settled
    assert done.error_bound is not None
    assert done.error_bound < 1e-7
    crawl(brain, 2)
    done = brain.tend(30.0, for_everybody=True)
    assert (done.settled, done.error_bound) == (True, None)  # it has just looked
    monkeypatch.setattr(upkeep, "BOUND_EVERY", 0.0)
    monkeypatch.setattr(upkeep, "BOUND_SHARE", 1e9)
    assert brain.tend(30.0, for_everybody=True).error_bound is not None
    assert brain.tend(30.0, for_everybody=True).error_bound is None  # nothing was pushed since


def test_an_empty_brain_is_settled(brain: Brain) -> None:
    assert brain.settle().sides == 0


def test_the_marks_of_a_page_are_known_from_the_batch_that_locked_it_last() -> None:
    table = settlement.LinkTable(np.array([3, 5, 9]), np.zeros(4, dtype=np.int64), np.empty(0, dtype=np.int32))
    sum_ = settlement.Sum(table)
    sum_.add(settlement.SettlingStep(at=2.0, touched=np.array([3, 5]), waits=np.array([False, True])))
    sum_.add(settlement.SettlingStep(at=1.0, touched=np.array([3, 9, 11]), waits=np.array([True, True, False])))
    assert sum_.unmarked() == [5, 9, 11]
    sum_.add(settlement.SettlingStep(at=3.0, touched=np.array([5]), waits=np.array([False])))
    assert sum_.unmarked() == [9, 11]
