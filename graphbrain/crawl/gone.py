"""Find the pages that are gone, as a reader of the crawl sees them.

The brain asks for a missing page a few times more, over weeks, before it gives the page up. For a reader a page is gone
when it was fetched before and is missing now; later failures of the same page are no news.

Statements: figures/missed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from graphbrain import Answer, Brain, Failed
from graphbrain.crawl.scrapy import Report
from graphbrain.graph.connection import Tx, bound

__all__ = ["first_missed", "is_missing", "with_gone"]

MISSING = (404, 410)


def is_missing(status: int | None) -> bool:
    """Return whether an answer with this status has no page."""
    return status in MISSING


def with_gone(brain: Brain, reports: Sequence[Report], answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers; that of a missing page has the outcome `gone_since` the first time, and `retry` later."""
    keys = {
        index: report.claim.key
        for index, (report, answer) in enumerate(zip(reports, answers, strict=True))
        if isinstance(report, Failed) and report.claim is not None and is_missing(report.status) and answer.accepted
    }
    gone_since = first_missed(brain, keys.values()) if keys else set()
    return [
        replace(answer, outcome="gone" if keys[index] in gone_since else "retry") if index in keys else answer
        for index, answer in enumerate(answers)
    ]


def first_missed(brain: Brain, keys: Collection[str]) -> set[str]:
    """Return the pages that were fetched before and have failed once since."""
    wanted = sorted(set(keys))
    return set(brain.graph.read(bound(Tx.one, "figures/missed", keys=wanted), "figures/missed")[0])
