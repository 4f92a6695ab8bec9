"""The one question that claims and upkeep ask the database: what is to be done.

The answer has the first of each kind of work, read without locks. They are candidates: the transaction that acts on one
locks it, and judges it again from what it has locked. Statements: upkeep/outstanding.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphbrain.base.numeric.rules import Rule
from graphbrain.brain import engines
from graphbrain.brain.counters import COUNT_EVERY
from graphbrain.brain.engines import AccountEngine
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.frontier import sections
from graphbrain.frontier.claims import resources
from graphbrain.frontier.claims.outlook import Beside
from graphbrain.graph.connection import Tx
from graphbrain.scores.accounts.algebra import NONE
from graphbrain.scores.accounts.pushes import NO_LIMIT, Wanted

__all__ = ["Batch", "Outstanding", "for_claims", "for_upkeep"]

OTHERS = 100
"""Pages and hosts of each kind that one transaction of upkeep acts on."""
NO_OTHERS = {"overdue": PASS_BATCH, "beside": 0, "others": 0, "visits": 0, "pushes": 0}
LINES = {line: kind for kind, lines in resources.LINES.items() for line in lines}


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of cash that an engine has chosen to push."""

    engine: AccountEngine
    work: Any


@dataclass(frozen=True, slots=True)
class Outstanding:
    """The first of each kind of work. A kind that was not asked for is empty.

    Attributes:
        tended: Whether a worker tends the brain for all processes.
        lapsed: The pages, and the resources, whose leases have lapsed, as their `Leasing` locks them (`leases.LEASED`).
        due: The ids of failed pages whose time to be tried again has come.
        beside: The sources of claims beside the queues of pages that seem to have something.
        news: The hosts whose pages have still to be judged by their robots.txt.
        deepened: The ids of pages whose lower depth has still to be passed on.
        linked: The ids of pages whose in-links are to be looked at.
        aliases: Those of them that are aliases.
        named: Those that are none, and that others name or lead to as if they were.
        unlearned: First visits to learn from: [id, host, when it was, for how many the host waits].
        rising: Hosts with a section whose factor has risen.
        push: The batch to push next; None: no push is worth its costs, or pushes were not asked for.
    """

    tended: bool
    lapsed: tuple[Sequence[Any], Sequence[Any]]
    retries: Sequence[int]
    beside: frozenset[Beside]
    news: Sequence[str]
    deepened: Sequence[int]
    linked: Sequence[int]
    aliases: Sequence[int]
    named: Sequence[int]
    unlearned: Sequence[Sequence[Any]]
    rising: Sequence[str]
    push: Batch | None

    @classmethod
    def of(cls, rows: Mapping[str, list[Any]], push: Batch | None) -> Outstanding:
        """Return the answer that the rows of the statement give (kind → what there is of it)."""
        beside: set[Beside] = {LINES[line] for line in rows["lines"]}  # type: ignore[misc]  # never robots
        beside |= {"aliases"} if rows["aliases"] else set()
        beside |= {"tries"} if rows["tries"] else set()
        return cls(
            bool(rows["tended"]),
            (rows["lapsed"], rows["lapsed_others"]),
            rows["due"],
            frozenset(beside),
            rows["news"],
            rows["deepened"],
            [page for page, *_ in rows["linked"]],
            [page for page, is_alias, _ in rows["linked"] if is_alias],
            [page for page, is_alias, is_named in rows["linked"] if is_named and not is_alias],
            rows["unlearned"],
            rows["rising"],
            push,
        )


def for_claims(session: Session) -> Outstanding:
    """Ask for what a claim needs to know, and take up the changes of others on the brain."""
    return _ask(session, None, beside=1)


def for_upkeep(session: Session, wanted: Wanted | None = None) -> Outstanding:
    """Ask for all that upkeep does, and take up the changes of others on the brain.

    Args:
        session: The open brain.
        wanted: The batch to push; None: no pushes are wanted.

    Raises:
        BeingConverted: The brain is between two engines, and a batch is wanted.
    """
    return _ask(session, wanted, others=OTHERS, visits=sections.AT_ONCE)


def _ask(session: Session, wanted: Wanted | None, **limits: int) -> Outstanding:
    def look(tx: Tx) -> tuple[dict[str, list[Any]], Batch | None]:
        now = session.now()
        answer = tx.many(
            "upkeep/outstanding",
            now=now,
            hour=int(now // 3600),
            lines=sorted(LINES),
            least=NONE,
            fewer=NO_LIMIT if wanted is None else wanted.fewer,
            **{**NO_OTHERS, **limits, "pushes": 0 if wanted is None else wanted.rows},
        )
        rows: dict[str, list[Any]] = defaultdict(list, dict(answer))
        return rows, None if wanted is None else _batch(tx, rows, wanted)

    session.graph.keep_time()
    rows, push = session.graph.read(look, "upkeep/outstanding")
    session.take_up(next(iter(rows["brain"]), None))
    work = Outstanding.of(rows, push)
    session.tended_until = time.monotonic() + COUNT_EVERY if work.tended else 0.0
    return work


def _batch(tx: Tx, rows: Mapping[str, Any], wanted: Wanted) -> Batch | None:
    """Return the batch to push next, by the engine that the brain has as it was just read."""
    if not rows["brain"]:
        return None
    rule = Rule.of(rows["brain"][0])
    engine = engines.of(rule)
    work = engine.cash.candidates(tx, rows, wanted, rule)
    return None if work is None else Batch(engine, work)
