"""Notes: texts that a crawler keeps on pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim
from graphbrain.base.options.verbs import CRAWLERS, EVERYBODY, PAGES, URL, verb
from graphbrain.brain.session import PASS_BATCH
from graphbrain.brain.topic import Topic
from graphbrain.frontier import notes
from graphbrain.frontier.reports.report_intake import unreadable
from graphbrain.graph.connection import bound

__all__ = ["Noting"]


class Noting(Topic):
    """The verbs that keep notes, and find them again."""

    @verb(CRAWLERS, "refused", items="texts", texts={"example": {URL: "render with a browser"}})
    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages (URL or key → text), known or to come.

        The first note on a page holds until the page is forgotten. A note that is written before the page is reported
        as a link, or seeded, is there whenever the page is claimed.

        Returns:
            Page → the reason, of each that was refused.
        """
        good: dict[str, str] = {}
        refused: dict[str, str] = {}
        for page, text in texts.items():
            try:
                if not isinstance(text, str) or len(text) > notes.LONGEST_NOTE:
                    raise BadInput(f"a note is text of at most {notes.LONGEST_NOTE} characters")
                good.setdefault(self._names.key(page), text.encode("utf-8", "replace").decode())
            except Exception as error:  # noqa: BLE001  # an error of the user's canonical, or of an item that is no text
                refused[page] = unreadable(error)
        # Write the accepted texts in batches, in the order of keys.
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: good[key] for key in keys[start : start + PASS_BATCH]}
            self._session.graph.write(bound(notes.write, batch), "notes/write")
        return refused

    @verb(EVERYBODY, "notes", items="pages", pages=PAGES)
    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """Return the notes on these pages (claims, URLs or keys), by key; a page without one is not in the answer."""
        named = list(pages)
        keys = [page.key if isinstance(page, Claim) else self._names.key(page) for page in named]
        if not keys:
            return {}
        texts = self._session.graph.read(lambda tx: notes.read(tx, keys), "notes/read")
        return {key: texts[key] for key in keys if key in texts}
