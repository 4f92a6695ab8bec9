"""Claims with an idempotency key: a caller that repeats a call, because the answer was lost, gets the same claims.

The transaction that makes the leases of a key also writes a note of them, so that after any kill both exist or neither.
A new key costs one statement more in that transaction. A used key is found when its note is written, and the
transaction is rolled back. Notes are deleted some time after their leases have lapsed. Statements: asked/*.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphbrain.base.model import Claim
from graphbrain.frontier.claims import taking
from graphbrain.graph.connection import Tx

__all__ = ["KEPT", "Answered", "again", "bind", "forget"]

KEPT = 600.0
"""Seconds for which a key is known after its leases have lapsed: a call with it gets no other claims."""
FORGOTTEN_AT_ONCE = 1_000


class Answered(Exception):
    """An error within a transaction, which is rolled back: an earlier call has made claims with these `keys`."""

    def __init__(self, keys: Collection[str]) -> None:
        super().__init__()
        self.keys = frozenset(keys)


def bind(tx: Tx, leased: Mapping[str, Sequence[Claim]]) -> None:
    """Write notes of the claims that each idempotency key has made. Raises Answered if a key was used before."""
    rows = [
        [key, claims[0].token, [claim.key for claim in claims], max(claim.until for claim in claims)]
        for key, claims in sorted(leased.items())
        if claims
    ]
    if rows and (answered := tx.one("asked/bind", rows=rows)[0]):
        raise Answered(answered)


def again(tx: Tx, keys: Collection[str], now: float) -> dict[str, list[Claim]]:
    """Return idempotency key → its claims whose leases have not ended, in the order in which they were made. Keys that
    were not used are left out."""
    noted = {key: (token, pages) for key, token, pages in tx.many("asked/again", keys=sorted(keys))}
    if not noted:
        return {}
    tried = {page for _, pages in noted.values() for page in pages}
    claims = taking.mine(tx, {token for token, _ in noted.values()}, tried)
    by_page = {(claim.token, claim.key): claim for claim in claims if claim.until > now}
    return {
        # A page may be noted twice: by an attempt whose answer was lost, and by the next one, which found its claim.
        key: [by_page[token, page] for page in dict.fromkeys(pages) if (token, page) in by_page]
        for key, (token, pages) in noted.items()
    }


def forget(tx: Tx, now: float) -> int:
    """Delete keys that expired long ago. Return their number."""
    count: int = tx.one("asked/forget", before=now - KEPT, limit=FORGOTTEN_AT_ONCE)[0]
    return count
