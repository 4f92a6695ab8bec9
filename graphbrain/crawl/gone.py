"""The outcome `gone` in the messages of a crawl.

The brain tries a missing page a few more times, over weeks, before it gives the page up. For the reader of a crawl a
page is gone when it was fetched before and is missing now. Later failures of the same page are no news.

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
    """Return whether a status means that there is no such page."""
    return status in MISSING


def with_gone(brain: Brain, reports: Sequence[Report], answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers, with the outcome `gone` for a page that is missing for the first time, and `retry` later."""
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
