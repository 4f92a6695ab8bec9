"""First visits from which something can be learned of the sections of their hosts.

Statement: sections/unlearned.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphbrain.frontier.discovery import APART
from graphbrain.graph.connection import Tx
from graphbrain.model import Fetched
from graphbrain.reports.outcomes import Verdict

__all__ = ["note"]


def note(tx: Tx, verdicts: Sequence[Verdict]) -> None:
    """Note the first visits among these from which something can be learned. Of visits at the same time the one that is
    reported first is the first."""
    first = [v for v in verdicts if v.keep and v.visit.first_fetched is None and _says(v)]
    if first:
        rows = [[v.visit.page, v.item.at + APART * position, v.item.seen.shingles] for position, v in enumerate(first)]
        tx.do("sections/unlearned", rows=rows)


def _says(verdict: Verdict) -> bool:
    """Return whether a first visit shows the yield of its section: by a text, a canonical, a permanent redirect, or
    because the page is missing. A page that could not be fetched, though it may be there, shows nothing."""
    item = verdict.item
    if not isinstance(item.report, Fetched):
        return item.missing and not verdict.visit.errors
    alias, named = verdict.answer.outcome == "alias", bool(item.facts) and item.facts[1] is not None
    return not item.walled and (item.seen.shingles is not None or alias or named)
