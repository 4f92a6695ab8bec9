"""Claims by a caller's key: who asks again, since the answer was lost, gets the same claims.

What is leased by a key is noted in the transaction that leases it, so that whatever is killed, both are there or
neither is. A key that nobody has used costs one statement more in that transaction; one that was used is found out when
its note is written, and the transaction is rolled back. Notes outlive their leases for a while, then they go.
Statements: asked/*.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphbrain.frontier import claims
from graphbrain.graph.connection import Tx
from graphbrain.model import Claim

__all__ = ["KEPT", "Answered", "again", "bind", "forget"]

KEPT = 600.0
"""Seconds for which a key is known after its leases have lapsed: asked again by it, nobody gets others."""
FORGOTTEN_AT_ONCE = 1_000


class Answered(Exception):
    """Raised inside a transaction, which is rolled back: by this key somebody was handed claims before."""


def bind(tx: Tx, key: str, token: str, leased: Sequence[Claim]) -> None:
    """Note that these pages are leased by a key. Raises Answered."""
    if not leased:
        return
    pages, until = [claim.key for claim in leased], max(claim.until for claim in leased)
    if not tx.one("asked/bind", key=key, token=token, pages=pages, until=until)[0]:
        raise Answered


def again(tx: Tx, key: str, now: float) -> list[Claim] | None:
    """The claims by a key, as far as they are still held; None where it was never used."""
    rows = tx.many("asked/again", key=key)
    if not rows:
        return None
    token, pages = rows[0]
    return [claim for claim in claims.mine(tx, token, set(pages)) if claim.until > now]


def forget(tx: Tx, now: float) -> int:
    """Forget keys that are over for long; how many."""
    gone: int = tx.one("asked/forget", before=now - KEPT, limit=FORGOTTEN_AT_ONCE)[0]
    return gone
