"""Notes: texts that a crawler keeps on pages, until the pages are forgotten.

The crawler decides how a page is fetched and read. If this differs between pages, any process that claims a page needs
the decision with the claim; a note carries it. A note is a node beside its page, so it can be written before the page
is known. A page that is discovered after its note is never claimed without it. Statements: notes/*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphbrain.base.model import Claim
from graphbrain.graph.connection import Tx

__all__ = ["LONGEST_NOTE", "forget", "on_claims", "read", "write"]

LONGEST_NOTE = 32_768
"""The most characters of a note."""


def write(tx: Tx, notes: Mapping[str, str]) -> None:
    """Write these notes, by the keys of their pages. A page that has a note keeps its old note."""
    tx.do("notes/write", rows=sorted([key, text] for key, text in notes.items()))


def read(tx: Tx, keys: Iterable[str]) -> dict[str, str]:
    """Return the notes on the pages with these keys; a page without a note is missing."""
    return dict(tx.one("notes/read", keys=sorted(set(keys)))[0])


def on_claims(tx: Tx, claims: Iterable[Claim]) -> dict[str, str]:
    """Return the notes on the pages among these claims, by their keys."""
    keys = [claim.key for claim in claims if claim.kind == "page"]
    return read(tx, keys) if keys else {}


def forget(tx: Tx, key: str) -> None:
    """Delete the note on a page, if it has one."""
    tx.do("notes/forget", key=key)
