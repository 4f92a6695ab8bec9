"""Texts of the crawler's own on pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphbrain.brain.names import Names
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.errors import BadInput
from graphbrain.frontier import notes
from graphbrain.frontier.validate import unreadable
from graphbrain.graph.connection import bound
from graphbrain.model import Claim

__all__ = ["Noting"]


class Noting:
    """Keeps notes, and finds them again."""

    def __init__(self, session: Session, names: Names) -> None:
        self._session, self._names = session, names

    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep texts, as `Brain.note` says."""
        good: dict[str, str] = {}
        refused: dict[str, str] = {}
        older: dict[str, str] = {}
        for page, text in texts.items():
            try:
                if not isinstance(text, str) or len(text) > notes.LONGEST_NOTE:
                    raise BadInput(f"a note is text of at most {notes.LONGEST_NOTE} characters")
                key = self._names.key(page)
                good.setdefault(key, text.encode("utf-8", "replace").decode())
                if (old := self._names.old_key(page)) is not None:
                    older[old] = key
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no text
                refused[page] = unreadable(error)
        graph = self._session.graph
        if older:
            for old in graph.read(lambda tx: notes.read(tx, older), "notes/read"):
                good.pop(older[old], None)
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: good[key] for key in keys[start : start + PASS_BATCH]}
            graph.write(bound(notes.write, batch), "notes/write")
        return refused

    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """The notes on pages, as `Brain.notes` says."""
        named = list(pages)
        keys = [page.key if isinstance(page, Claim) else self._names.key(page) for page in named]
        if not keys:
            return {}
        older: dict[str, str] = {}
        if self._session.was_moved:
            old_key = self._names.old_key
            urls = [page.url if isinstance(page, Claim) else page for page in named]
            older = {key: old for key, url in zip(keys, urls, strict=True) if (old := old_key(url)) is not None}
        found = self._session.graph.read(lambda tx: notes.read(tx, [*keys, *older.values()]), "notes/read")
        wanted = {key: found.get(key, found.get(older.get(key, ""))) for key in keys}
        return {key: text for key, text in wanted.items() if text is not None}
