"""The base of the classes of which `Brain` consists: each has the verbs of one topic."""

from __future__ import annotations

from graphbrain.brain.backfill import Backfill
from graphbrain.brain.names import Names
from graphbrain.brain.session import Session

__all__ = ["Topic"]


class Topic:
    """Some verbs of a brain."""

    def __init__(self, session: Session, names: Names, backfill: Backfill) -> None:
        self._session, self._names, self._backfill = session, names, backfill
