"""What tests ask a brain in fewer words."""

from __future__ import annotations

from collections.abc import Callable

from graphbrain import Brain, Client, Page
from graphbrain.base.options.scores import RankDue
from graphbrain.base.work import Ranking
from graphbrain.brain import rank

__all__ = ["neighbours", "rank_if_due", "top_of"]


def top_of(brain: Brain | Client, n: int = 10, by: str = "authority") -> list[Page]:
    """Return the `n` pages of highest score, best first."""
    return list(brain.find(by=by, limit=n))


def neighbours(brain: Brain, url: str) -> tuple[list[str], list[str]]:
    """Return the URLs a page links to, and those that link to it, both sorted."""
    linked, linking = (sorted(each.url for each in brain.links(url, way)) for way in ("out", "in"))
    return linked, linking


def rank_if_due(
    brain: Brain, method: str, every: float = 3_600.0, *, progress: Callable[[str, int, int], None] = lambda *_: None
) -> Ranking | None:
    """Return the ranking that a worker of this brain makes, or None when there is nothing to do."""
    return rank.rank_if_due(brain, RankDue(method, every), progress)
