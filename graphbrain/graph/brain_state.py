"""The state on the brain's node that a backfill of all pages or hosts reads after a change of settings.

A step of a backfill sees committed data. It does not see pages that an open transaction is about to create by the
settings before the change. Therefore a process that continues a backfill first waits for the end of every transaction
that began before the change, and records the revision of the settings for which it waited. If the settings change
again, the backfill and the wait begin anew for every process that runs it. Statements: brain/lock, brain/read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphbrain.graph.connection import Tx

__all__ = ["BegunAnew", "closed", "stored"]

CLOSING = ("reweighing", "importing")
"""Properties of a brain whose accounts must not be written: its links are being weighed anew, or files are being
imported."""


class BegunAnew(Exception):
    """The settings have changed, so open transactions may still use the old ones."""


def closed(stored: Mapping[str, Any]) -> bool:
    """Return True if the properties on the brain forbid the writing of accounts."""
    return any(stored.get(name) is not None for name in CLOSING)


def stored(tx: Tx, revision: int, lock: bool = True) -> Mapping[str, Any]:
    """Return the properties of the brain, locked or not.

    Raises:
        BegunAnew: The settings are not of this revision.
    """
    stored: Mapping[str, Any] = tx.one("brain/lock")[0] if lock else tx.one("brain/read")[0]
    if stored["revision"] != revision:
        raise BegunAnew
    return stored
