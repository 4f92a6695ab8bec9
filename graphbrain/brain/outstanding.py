"""The statement by which claims and upkeep ask the database which work is outstanding.

The answer has the first candidates of each kind of work, read without locks. The transaction that acts on a candidate
locks it first, and decides again from the locked properties. Statements: upkeep/outstanding.
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
"""The most pages or hosts of each kind that one answer names."""
NO_OTHERS = {"overdue": PASS_BATCH, "beside": 0, "others": 0, "visits": 0, "pushes": 0}
LINES = {line: kind for kind, lines in resources.LINES.items() for line in lines}


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of cash that an engine has chosen to push."""

    engine: AccountEngine
    work: Any


@dataclass(frozen=True, slots=True)
class Outstanding:
    """The first candidates of each kind of work. A kind that was not asked for is empty.

    Attributes:
        tended: True if a worker tends the brain for all processes.
        lapsed: The pages, and the resources, whose leases have lapsed, in the form that their `Leasing` locks
            (`lapses.LEASED`).
        retries: The ids of failed pages that are due for another attempt.
        beside: The sources of claims beside the queues of pages that seem to have candidates.
        news: The hosts whose robots.txt has changed, and whose pages have not been judged by it.
        deepened: The ids of pages whose lower depth has not been passed on to linked pages.
        linked: The ids of pages whose in-links have changed.
        aliases: The ids among `linked` that are aliases.
        named: The ids among `linked` that are no aliases, but have a relation of an alias or a canonical (SPELLS,
            REDIRECTS_TO, CANONICAL or SEEDS).
        unlearned: First visits to learn from: [id, host, time of the visit, number of visits that the host waits for].
        rising: Hosts with a section whose factor has risen.
        push: The batch to push next; None if no push is worth its costs, or if pushes were not asked for.
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
        """Return the answer from the rows of the statement (kind → its candidates)."""
        beside: set[Beside] = {LINES[line] for line in rows["lines"]}  # type: ignore[misc]  # no line has the kind robots
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
    """Ask for the work that concerns claims, and take up the changes of other processes on the brain."""
    return _ask(session, None, beside=1)


def for_upkeep(session: Session, wanted: Wanted | None = None) -> Outstanding:
    """Ask for all work of upkeep, and take up the changes of other processes on the brain.

    Args:
        session: The open brain.
        wanted: The request for a batch to push; None for no batch.

    Raises:
        BeingConverted: A batch is wanted while the brain is converted from one engine to the other.
    """
    return _ask(session, wanted, others=OTHERS, visits=sections.AT_ONCE)


def _ask(session: Session, wanted: Wanted | None, **limits: int) -> Outstanding:
    """Ask for the work of the kinds whose `limits` are above 0, and take up the changes of other processes."""

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

    # One read returns the work, the batch to push and the properties of the brain.
    session.graph.keep_time()
    rows, push = session.graph.read(look, "upkeep/outstanding")
    session.take_up(next(iter(rows["brain"]), None))
    work = Outstanding.of(rows, push)
    session.tended_until = time.monotonic() + COUNT_EVERY if work.tended else 0.0
    return work


def _batch(tx: Tx, rows: Mapping[str, Any], wanted: Wanted) -> Batch | None:
    """Return the batch to push next, chosen by the engine of the brain as it was just read; None for no batch."""
    if not rows["brain"]:
        return None
    rule = Rule.of(rows["brain"][0])
    engine = engines.of(rule)
    work = engine.cash.candidates(tx, rows, wanted, rule)
    return None if work is None else Batch(engine, work)
