"""Notes: a text of the crawler's own on a page, kept until the page is forgotten.

The crawler decides how a page is fetched and read. Where that is not the same for all pages, the decision must come
back with the claim, to any process that claims the page. A note is a node beside its page, so that it can be written
before the page is known: a page that is discovered together with its note is never claimed without it. Statements:
notes/*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphbrain.graph.connection import Tx

__all__ = ["LONGEST_NOTE", "forget", "read", "write"]

LONGEST_NOTE = 32_768
"""The most characters of a note."""


def write(tx: Tx, notes: Mapping[str, str]) -> None:
    """Keep these notes, by the keys of their pages; a page that has one keeps that."""
    tx.do("notes/write", rows=sorted([key, text] for key, text in notes.items()))


def read(tx: Tx, keys: Iterable[str]) -> dict[str, str]:
    """Return the notes there are on the pages of these keys."""
    return dict(tx.one("notes/read", keys=sorted(set(keys)))[0])


def forget(tx: Tx, key: str) -> None:
    """Delete the note on a page, if it has one."""
    tx.do("notes/forget", key=key)
