"""Looks at every transaction just before it commits: do the weights of the pages it has locked fit their links?

What is wrong at the end of a run says that something went wrong; this says which transaction it was, and what it and
the others did before.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import neo4j
import pytest

from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import Graph, Tx
from graphbrain.scores.accounts.ledger import Accounts

LOOK = """
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH p, COUNT { (p)-[:LINKS]->() } AS out, COUNT { (p)<-[:LINKS]-() } AS into
WHERE p.out_weight <> out OR p.in_weight <> into
RETURN p.key, p.out_weight, out, p.in_weight, into
"""

ENTRY = 6000
"""Characters of a statement's parameters, and of its answer, that are kept: enough for all accounts of a hot graph."""


class Witness:
    """`findings`: transactions that were about to commit weights that do not fit; with links of weight 1 only."""

    def __init__(self) -> None:
        self.findings: list[str] = []
        self.looked = 0
        self._log: deque[tuple[Any, ...]] = deque(maxlen=4000)
        self._mine = threading.local()

    @contextmanager
    def watching(self) -> Iterator[Witness]:
        """Within the block, all that this process does is looked at."""
        lock, many, commit = Accounts.lock_present, Tx.many, Graph._commit

        def locking(cls: type[Accounts], tx: Tx, ids: Iterable[int], rule: Rule, made: Sequence[int] = ()) -> Accounts:
            ledger: Accounts = lock.__func__(cls, tx, ids, rule, made)  # type: ignore[attr-defined]
            self._mine.locked = self._locked(tx) | set(ledger.ids.tolist())
            return ledger

        def saying(tx: Tx, name: str, /, **params: Any) -> list[list[Any]]:
            self._note("->", name)
            rows = many(tx, name, **params)
            self._note(name, str(params)[:ENTRY], str(rows)[:ENTRY])
            return rows

        def committing(graph: Graph, tx: neo4j.Transaction) -> None:
            self._look(tx)
            self._note("COMMITTING")
            commit(graph, tx)
            self._note("COMMIT")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Accounts, "lock_present", classmethod(locking))
            patch.setattr(Tx, "many", saying)
            patch.setattr(Graph, "_commit", committing)
            yield self

    def _locked(self, tx: Tx) -> set[int]:
        """What this thread's transaction has locked so far."""
        if getattr(self._mine, "tx", None) is not tx._tx:
            self._mine.tx, self._mine.locked = tx._tx, set()
        locked: set[int] = self._mine.locked
        return locked

    def _look(self, tx: neo4j.Transaction) -> None:
        if getattr(self._mine, "tx", None) is not tx:
            return
        self.looked += 1
        wrong = tx.run(LOOK, ids=sorted(self._mine.locked)).values()
        if wrong:
            before = "\n".join(" ".join(map(str, entry)) for entry in list(self._log))
            self.findings.append(f"[key, out_weight, links, in_weight, links] {wrong} after\n{before}")

    def _note(self, *what: str) -> None:
        self._log.append((f"{time.monotonic():.3f}", threading.get_ident() % 10_000, *what))
