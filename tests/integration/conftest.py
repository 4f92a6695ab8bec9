"""An empty brain on a live server with a clock in the test's hand; audited when the test is over."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import neo4j as driver
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.graph.connection import Tx
from graphbrain.graph.statements import statement
from tests.plugin import PATIENCE, Neo4j, eventually

START = 1_700_000_000.0


@dataclass
class HandClock:
    """Epoch seconds that pass only when the test says so."""

    at: float = START

    def __call__(self) -> float:
        return self.at

    def pass_(self, seconds: float) -> float:
        """Let time pass; the new time."""
        self.at += seconds
        return self.at


@pytest.fixture
def clock() -> HandClock:
    """The test's clock, at START."""
    return HandClock()


def lose_an_answer(patch: pytest.MonkeyPatch) -> list[bool]:
    """The next transaction of this process is committed, and its answer is lost; the list is empty then."""
    commit, left = driver.Transaction.commit, [True]

    def lose(tx: driver.Transaction) -> None:
        commit(tx)
        if left:
            left.pop()
            raise OSError("the answer is lost")

    patch.setattr(driver.Transaction, "commit", lose)
    return left


@pytest.fixture
def answers_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first transaction of the test that writes by a statement is committed, its answer is lost, and it is run
    again, for each statement: what the test says holds nevertheless."""
    commit, many = driver.Transaction.commit, Tx.many
    lost, here = set[str](), threading.local()

    def noted(self: Tx, name: str, /, **given: object) -> list[list[object]]:
        if statement(name).mode == "write":
            here.sent = {*getattr(here, "sent", ()), name}
        return many(self, name, **given)

    def lose(tx: driver.Transaction) -> None:
        commit(tx)
        sent, here.sent = getattr(here, "sent", set()), set()
        if not sent <= lost:
            lost.update(sent)
            raise OSError("the answer is lost")

    monkeypatch.setattr(Tx, "many", noted)
    monkeypatch.setattr(driver.Transaction, "commit", lose)


def statements_sent(patch: pytest.MonkeyPatch) -> list[str]:
    """The names of the statements that this process sends from now on, and COMMIT for the end of each transaction."""
    sent: list[str] = []
    commit, many = driver.Transaction.commit, Tx.many

    def counted(self: Tx, name: str, /, **given: object) -> list[list[object]]:
        sent.append(name)
        return many(self, name, **given)

    def committed(tx: driver.Transaction) -> None:
        sent.append("COMMIT")
        commit(tx)

    patch.setattr(Tx, "many", counted)
    patch.setattr(driver.Transaction, "commit", committed)
    return sent


def just_before(
    patch: pytest.MonkeyPatch, brain: Brain, name: str, act: Callable[[], object], how: str = "write"
) -> None:
    """Let something be done, once, between what a brain has seen and its next transaction of this name; of those that
    `write`, or `read`."""
    run, left = getattr(brain.graph, how), [act]

    def late(work: Callable[..., object], called: str, **more: bool) -> object:
        if called == name and left:
            left.pop()()
        return run(work, called, **more)

    patch.setattr(brain.graph, how, late)


class _Interrupted:
    """A transaction within which something is done, once, right before or after a statement."""

    def __init__(self, tx: Tx, name: str, left: list[Callable[[], object]], after: bool) -> None:
        self._tx, self._name, self._left, self._after = tx, name, left, after

    def __getattr__(self, what: str) -> object:
        found = getattr(self._tx, what)
        if what not in ("one", "records", "many", "do"):
            return found

        def run(name: str, /, **params: object) -> object:
            due = name == self._name
            if due and self._left and not self._after:
                self._left.pop()()
            rows = found(name, **params)
            if due and self._left:
                self._left.pop()()
            return rows

        return run


def meanwhile(
    patch: pytest.MonkeyPatch, brain: Brain, name: str, act: Callable[[], object], *, after: bool = False
) -> list[Callable[[], object]]:
    """Do something, once, inside a transaction of this brain: right before, or `after`, its next statement of this
    name.

    So what the transaction has read without a lock is stale when it locks. `act` uses another brain, and must not need
    a lock that the transaction holds. The answer is a list that is empty when `act` has been called.
    """
    left = [act]

    def interrupted(run: Callable[..., object]) -> Callable[..., object]:
        def go(work: Callable[[object], object], called: str, **more: bool) -> object:
            return run(lambda tx: work(_Interrupted(tx, name, left, after)), called, **more)

        return go

    patch.setattr(brain.graph, "write", interrupted(brain.graph.write))
    return left


Going = Callable[[], bool]
"""Has nobody said that it is over?"""


@contextlib.contextmanager
def crowd(*works: Callable[[Going], None]) -> Iterator[Going]:
    """Work beside the test, a thread each, for as long as going(); however the test leaves, all have ended then.

    What one of them raises ends the others too, and is raised at the end.
    """
    over, errors = threading.Event(), list[BaseException]()

    def going() -> bool:
        return not over.is_set() and not errors

    def run(work: Callable[[Going], None]) -> None:
        try:
            work(going)
        except BaseException as error:  # noqa: BLE001  # raised again by the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield going
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for error in errors:
            raise error


def pass_by(raw: driver.Driver, going: Going) -> None:
    """Pages and hosts that nobody uses come and go: under a planner that counts them, while it makes a plan."""
    with raw.session(database="neo4j") as session:
        while going():
            session.run(
                "UNWIND range(1, 20) AS i CREATE (:Page:Passing {key: 'p' + i}), (:Host:Passing {name: 'p' + i})"
            ).consume()
            session.run("MATCH (n:Passing) DELETE n").consume()


def plan_anew(raw: driver.Driver, going: Going) -> None:
    """All plans are dropped, again and again, as the database does by itself when counts have changed much."""
    while going():
        raw.execute_query("CALL db.clearQueryCaches()", database_="neo4j")
        time.sleep(0.2)


Verb = Callable[[Brain, Callable[[], str], random.Random], object]
"""Something to do with a brain, given a function that names any page."""


def forget(own: Brain, page: Callable[[], str], _: random.Random) -> None:
    own.forget(page())


def unlink(own: Brain, page: Callable[[], str], _: random.Random) -> None:
    own.unlink(page(), page())


def link(own: Brain, page: Callable[[], str], _: random.Random) -> None:
    if (source := page()) != (target := page()):
        with contextlib.suppress(BadInput):  # the source may redirect
            own.link(source, target)


def push(own: Brain, page: Callable[[], str], _: random.Random) -> None:
    own.tend(pages=[page(), page()])


EDITS: tuple[Verb, ...] = (forget, unlink, link, push)
"""What every engine's accounts must survive from several at once."""


@contextlib.contextmanager
def churning(neo4j: Neo4j, url: Callable[[int], str], threads: int, *verbs: Verb) -> Iterator[Going]:
    """A crowd with a brain each, doing these at random on the same dozen pages."""

    def work(seed: int, going: Going) -> None:
        dice = random.Random(seed)
        with neo4j.open(crawl="test", auto_tend=False) as own:
            while going():
                dice.choice(verbs)(own, lambda: url(dice.randrange(12)), dice)

    with crowd(*(partial(work, seed) for seed in range(threads))) as going:
        yield going


def rounds(going: Going, seconds: float, least: int = 4) -> Iterator[None]:
    """For so long, and so many times at least, while the others go on."""
    done, until = 0, time.monotonic() + seconds
    while going() and (done < least or time.monotonic() < until):
        yield
        done += 1


def lock_awaited(raw: driver.Driver) -> bool:
    """Does a transaction wait for a lock?"""
    blocked = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) > 0"
    return bool(raw.execute_query(blocked, database_="neo4j").records[0][0])


def kept_out(raw: driver.Driver, holder: driver.Transaction, text: str, **params: object) -> bool:
    """Does a write wait, and go on when the transaction that holds the lock is rolled back?"""
    done = threading.Event()

    def late() -> None:
        raw.execute_query(text, params, database_="neo4j")
        done.set()

    thread = threading.Thread(target=late)
    thread.start()
    waits = eventually(lambda: done.is_set() or lock_awaited(raw), "somebody who waits for the lock")
    waited = waits and not done.is_set()
    holder.rollback()
    thread.join(PATIENCE)
    return waited and done.is_set()


def sound(brain: Brain) -> None:
    """Fail unless a full audit finds nothing."""
    found = brain.audit(None)
    assert found.ok, found.findings


@pytest.fixture
def make_brain(neo4j: Neo4j, clock: HandClock) -> Iterator[Callable[..., Brain]]:
    """Settings → an empty brain with them, without delays unless given, on the test's clock.

    Whatever the test did to the last brain it made, its graph must be sound afterwards.
    """
    opened: list[Brain] = []

    def make(**settings: object) -> Brain:
        brain = neo4j.open(crawl="test", auto_tend=False, clock=clock)
        opened.append(brain)
        brain.clear()
        brain.remake(**{"delay_seconds": 0.0, **settings})
        return brain

    yield make
    try:
        if opened:
            sound(opened[-1])
    finally:
        for brain in opened:
            brain.close()


@pytest.fixture
def brain(make_brain: Callable[..., Brain]) -> Brain:
    """An empty brain without delays, on the test's clock, audited at the end."""
    return make_brain()


@pytest.fixture
def second(neo4j: Neo4j, brain: Brain, clock: HandClock) -> Iterator[Brain]:  # noqa: ARG001
    """Another process's view of `brain`, on the same clock."""
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        yield other


LateReport = Callable[[], Callable[[], None]]


@pytest.fixture
def late_report(second: Brain) -> Iterator[LateReport]:
    """A function: a report of new pages begins, and stops when it has seen the settings; it answers how to go on."""
    locked, go_on = threading.Event(), threading.Event()

    def slow(name: str, *_: object) -> None:
        if name == "accounts/lock" and not locked.is_set():
            locked.set()
            go_on.wait(PATIENCE)

    def report() -> None:
        with second.graph.trace(slow):
            second.report([Fetched("http://new.org/1", ["http://new.org/2", "http://new.org/3"])])

    late = threading.Thread(target=report)

    def begin() -> Callable[[], None]:
        late.start()
        assert locked.wait(PATIENCE)
        return end

    def end() -> None:
        go_on.set()
        late.join(PATIENCE)

    yield begin
    end()


@pytest.fixture(scope="session")
def raw(neo4j: Neo4j) -> Iterator[driver.Driver]:
    """The bare driver, for looking at the graph past graphbrain."""
    auth = (neo4j.user, neo4j.password) if neo4j.password else None
    with driver.GraphDatabase.driver(neo4j.uri, auth=auth, notifications_min_severity="OFF") as opened:
        yield opened


@pytest.fixture
def ask(raw: driver.Driver) -> Callable[..., list[list[object]]]:
    """Cypher and parameters → rows, past graphbrain."""

    def run(text: str, **params: object) -> list[list[object]]:
        records = raw.execute_query(text, params, database_="neo4j").records
        return [record.values() for record in records]

    return run
