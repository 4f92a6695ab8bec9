"""Imports scores that were computed outside the brain, while other work continues.

Scores are by key. A page that was found after the dump has no score, and a page that was deleted since is skipped. A
settling pass brings the accounts to their goal; its batches read the links as they are now. Each page pays its
neighbours the amounts of the goal, so the accounts are consistent after every commit. Cash that differs because links
have changed since the dump waits for pushes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from graphbrain.analyst.results import Results
from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.work import Settled
from graphbrain.brain.backfill import Backfill
from graphbrain.brain.brain import Brain
from graphbrain.brain.settle import SettleProgress, Settling
from graphbrain.frontier import discovery
from graphbrain.graph.connection import Graph, bound
from graphbrain.scores.accounts import settlement
from graphbrain.scores.accounts.settlement import Goal
from graphbrain.scores.ranking import store

__all__ = ["Brought", "rank", "settle"]

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of finished pages, and their total."""
Brought = tuple[int, int]
"""The number of scores in the files, and the number of pages that got one."""


def rank(brain: Brain, folder: str, progress: Progress = lambda *_: None) -> Brought:
    """Write batch scores from a folder to the pages, or bring live PageRank to its fixed point.

    Args:
        brain: The brain that the dump is of.
        folder: The folder that `graphbrain spark rank` has written.
        progress: Called after each part.

    Raises:
        BadInput: The scores are of another kind, of another brain or by other settings, or not whole.
        GraphbrainError: Another process began to write scores of the same method.
    """
    # Check that the scores belong to this brain and its present settings.
    results = Results.open(folder)
    session = brain.session
    session.refresh()
    results.check(session.graph, ("rank", "live_pagerank"))
    if results.kind == "live_pagerank":
        return _live_pagerank(brain, results, progress)
    # Write the scores part by part, with the figures of the run.
    figures, later = results.manifest["ranking"], results.manifest["later"]
    facts = {name: value for name, value in figures.items() if value is not None}
    scored_pages = store.write_parts(
        session.graph,
        figures["method"],
        _scores_by_id(session.graph, results),
        results.manifest["pages"],
        {**facts, **later, "token": uuid.uuid4().hex},
        session.now,
        lambda done, of: progress("writing scores", done, of),
    )
    session.refresh()
    # Pages move to the lanes of their new scores, if the order uses these scores.
    if figures["method"] == session.settings.value:
        Backfill(session).finish()
    return results.manifest["pages"], scored_pages


def _live_pagerank(brain: Brain, results: Results, progress: Progress) -> Brought:
    """Bring live PageRank to the fixed point of a folder. Raise BadInput if the brain keeps no live PageRank."""
    account = brain.session.policy.rule.live_pagerank
    if not account.settles:
        raise BadInput(
            "This brain keeps no live PageRank: set keep_live_pagerank, or name it in value, before its scores are "
            "brought in."
        )
    pages = results.manifest["pages"]
    done = 0

    def parts() -> Iterator[Mapping[int, float]]:
        nonlocal done
        for ids, columns in _scores_by_id(brain.graph, results):
            yield dict(zip(ids.tolist(), columns[account.name].tolist(), strict=True))
            done += len(ids)
            progress("passing on", done, pages)

    # Each page gets the score of its fixed point, and passes the difference on to linked pages.
    Settling(brain.session).bring_to(account, parts(), lambda: False)
    return pages, done


def settle(
    brain: Brain,
    folder: str,
    tolerance: float = SETTLED_TO,
    progress: SettleProgress = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Settled:
    """Bring all accounts to the fixed point that a folder holds; compare `Brain.settle`, which computes it.

    It takes 24 bytes of memory a page. Nothing is done while another settling pass is under way.

    Args:
        brain: The brain that the dump is of.
        folder: The folder that `graphbrain spark settle` has written.
        tolerance: The error bound after the pass, if no link has changed since the dump.
        progress: Called with the name of a step (read, write), the number of finished pages, and their total.
        stop: Asked between transactions; True ends the pass.

    Raises:
        BadInput: See `rank`; or the brain has the classic engine.
    """
    results = Results.open(folder)
    session = brain.session
    session.refresh()
    results.check(session.graph, ("settle",))

    def find(graph: Graph, rule: Rule, tolerance: float, report: SettleProgress) -> Goal:
        return _goal(graph, rule, tolerance, report, results)

    return Settling(session).settle(tolerance=tolerance, progress=progress, stop=stop, find=find)


def _goal(graph: Graph, rule: Rule, tolerance: float, report: SettleProgress, results: Results) -> Goal:
    """Return the goal of a settling pass from the scores of a folder."""
    parts: list[tuple[Ints, Floats, Floats]] = []
    pages, done = results.manifest["pages"], 0
    for ids, columns in _scores_by_id(graph, results):
        parts.append((ids, columns["hub"], columns["authority"]))
        done += len(ids)
        report("read", done, pages)
    # The parts come in the order of keys; a goal has the pages in the order of their ids.
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in parts)])
    hub, authority = (np.concatenate([np.empty(0), *(part[side] for part in parts)]) for side in (1, 2))
    order = np.argsort(ids, kind="stable")
    return Goal.without_links(
        ids[order],
        hub[order],
        authority[order],
        results.manifest["links"],
        settlement.CLOSE * settlement.waiting_share(rule, tolerance),
        results.manifest["iterations"],
        results.manifest["residual"],
    )


def _scores_by_id(graph: Graph, results: Results) -> Iterator[tuple[Ints, dict[str, Floats]]]:
    """Yield internal ids, ascending, and scores of the pages that are in the graph, part by part."""
    for keys, columns in results.rows():
        id_of = graph.read(bound(discovery.find, keys), "pages/find")
        ids = np.array([id_of.get(key, -1) for key in keys], dtype=np.int64)
        places = np.flatnonzero(ids >= 0)
        places = places[np.argsort(ids[places], kind="stable")]
        yield ids[places], {name: column[places] for name, column in columns.items()}
