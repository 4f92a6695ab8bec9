"""The state on the brain's node that a backfill of all pages or hosts reads after a change of settings.

A step of a backfill sees only committed data. An open transaction may create pages later by the settings before the
change. Therefore a process that runs a backfill first waits until every transaction has ended that began before the
change, and records the revision of the settings for which it waited. If the settings change again, all processes begin
the wait and the backfill anew. Statements: brain/lock, brain/read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphbrain.graph.connection import Tx

__all__ = ["BegunAnew", "closed", "stored"]

CLOSING = ("reweighing", "importing")
"""The properties of a brain whose accounts must not be written: while links are weighed anew, or files are imported."""


class BegunAnew(Exception):
    """An error of a backfill: the settings have changed, so open transactions may still use the old ones."""


def closed(stored: Mapping[str, Any]) -> bool:
    """Return whether the properties of a brain forbid to write accounts."""
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
