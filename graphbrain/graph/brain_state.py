"""What a backfill of all pages or hosts finds on the brain, where a change of settings has left it.

A step of a backfill sees what is committed: pages that a transaction is about to create, by the settings before, it
does not. So whoever goes on with a backfill has first waited until every transaction had ended that began before the
change, and names the revision of the settings for which that was done. When they change again the backfill begins anew,
and so does the wait, for everybody who is at it.
Statements: brain/lock, brain/read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphbrain.graph.connection import Tx

__all__ = ["MOVED", "BegunAnew", "closed", "moves", "nobody_imports", "stored"]

CLOSING = ("reweighing", "importing")
"""What stands on a brain while nobody may write accounts: all links are being weighed anew, or files imported."""
MOVED = "moved"
"""What `importing` says for ever on a brain that was moved from older URL rules: processes of versions that go by
those, and have it open still, are kept out by it. It closes the brain to nobody else."""


class BegunAnew(Exception):
    """The settings have changed: transactions may be under way that go by those before."""


def closed(stored: Mapping[str, Any]) -> bool:
    """May nobody write accounts, by what stands on the brain?"""
    return any(stored.get(name) not in (None, MOVED) for name in CLOSING)


def moves(stored: Mapping[str, Any]) -> bool:
    """Is the brain being moved to other URL rules, and closed for it?"""
    return stored.get("rekeying") is not None and stored.get("importing") is not None


def nobody_imports(stored: Mapping[str, Any]) -> str | None:
    """What `importing` is on this brain when no files are imported."""
    return MOVED if stored.get("moved_from") is not None else None


def stored(tx: Tx, revision: int, lock: bool = True) -> Mapping[str, Any]:
    """What stands on the brain, locked or not. Raises BegunAnew when its settings are not of this revision."""
    stored: Mapping[str, Any] = tx.one("brain/lock")[0] if lock else tx.one("brain/read")[0]
    if stored["revision"] != revision:
        raise BegunAnew
    return stored
