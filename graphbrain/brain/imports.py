"""The note on the brain that an import of files is under way. During an import no other process writes accounts, so no
other process creates or reports pages. A process that tries waits until its time limit."""

from __future__ import annotations

from graphbrain.brain.session import Session

__all__ = ["begin", "end"]


def begin(session: Session, since: float) -> None:
    """Note that an import began at `since` (epoch seconds). Return when every running process has seen the note.

    Raises GraphUnavailable if a process does not end its transaction.
    """
    _note(session, since)
    session.wait_for_older("the brain for an import", "import again")


def end(session: Session) -> None:
    """Note that the import has ended or was abandoned."""
    _note(session, None)


def _note(session: Session, importing: object) -> None:
    session.graph.write(lambda tx: tx.do("brain/change", settings={"importing": importing}), "brain/change")
    session.refresh()
