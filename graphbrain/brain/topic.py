"""The base class of the topics: `Brain` inherits from one class for each topic."""

from __future__ import annotations

from graphbrain.brain.backfill import Backfill
from graphbrain.brain.names import Names
from graphbrain.brain.session import Session

__all__ = ["Topic"]


class Topic:
    """The verbs of one topic, and the objects that they use."""

    def __init__(self, session: Session, names: Names, backfill: Backfill) -> None:
        self._session, self._names, self._backfill = session, names, backfill
