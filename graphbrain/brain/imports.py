"""The note that files are imported into a brain. Meanwhile no other process writes accounts, so that no page can come
or be reported. A process that tries waits until its time limit."""

from __future__ import annotations

from graphbrain.brain.session import Session

__all__ = ["begin", "end"]


def begin(session: Session, since: float) -> None:
    """Note that files are being imported since then. Return after every running process has seen that the import began.

    Raises GraphUnavailable where a process does not end its transaction.
    """
    _note(session, since)
    session.wait_for_older("the brain for an import", "import again")


def end(session: Session) -> None:
    """Note that the import is over, or has been given up."""
    _note(session, None)


def _note(session: Session, importing: object) -> None:
    session.graph.write(lambda tx: tx.do("brain/change", settings={"importing": importing}), "brain/change")
    session.refresh()
