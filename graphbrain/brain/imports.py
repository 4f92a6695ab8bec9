"""A brain that files are imported into: meanwhile nobody else writes accounts, so that no page can come or be reported.

Whoever tries waits, until their time is over.
"""

from __future__ import annotations

from graphbrain.brain.session import Session
from graphbrain.graph import brain_state

__all__ = ["begin", "end"]


def begin(session: Session, since: float) -> None:
    """Note that files are being imported since then. On return nobody is at work any more who has not known.

    Raises GraphUnavailable where somebody stays.
    """
    _note(session, since)
    session.wait_for_older("the brain for an import", "import again")


def end(session: Session) -> None:
    """The import is over, or has been given up."""
    _note(session, brain_state.nobody_imports(session.stored))


def _note(session: Session, importing: object) -> None:
    session.graph.write(lambda tx: tx.do("brain/change", settings={"importing": importing}), "brain/change")
    session.refresh()
