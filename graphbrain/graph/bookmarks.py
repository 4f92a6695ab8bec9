"""The bookmarks of a connection to a cluster: a transaction sees at least what those before it have written.

A member that has not yet applied a bookmark waits until it has, for `db.transaction.bookmark_ready_timeout`, which is
30 s by default, and then refuses the transaction. A database that was restored from a backup is older than the
bookmarks of processes that ran before. It refuses them as invalid, or never reaches them. Such bookmarks are dropped,
or the process could never read or write again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection

__all__ = ["INVALID", "Bookmarks"]

INVALID = "Neo.ClientError.Transaction.InvalidBookmark"
"""Bookmarks that the database cannot have given, or a mixture of several databases' (`InvalidBookmarkMixture`)."""
NOT_REACHED = "Neo.TransientError.Transaction.BookmarkTimeout"
"""The member has not reached the bookmark in its time."""
PATIENCE = 2
"""Time-outs of the leader, one after another, after which it is known to lack what was written. The leader has all
that was committed, but a new one needs some time to apply it."""
log = logging.getLogger(__name__)


class Bookmarks:
    """The bookmarks of all sessions of a connection. Thread-safe. They outlive the driver.

    The driver uses it as its `BookmarkManager`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bookmarks: set[str] = set()
        self._timeouts = 0

    def update_bookmarks(self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]) -> None:
        """Replace those that a session began with by those that it ended with."""
        if new_bookmarks:
            with self._lock:
                self._bookmarks.difference_update(previous_bookmarks)
                self._bookmarks.update(new_bookmarks)

    def get_bookmarks(self) -> set[str]:
        """Return those that a new session must wait for."""
        with self._lock:
            return set(self._bookmarks)

    def accepted(self) -> None:
        """Note that a member has reached them."""
        self._timeouts = 0

    def refused(self, code: str, sent: Collection[str], by_leader: bool) -> bool:
        """Drop those that were `sent` if an error with this code shows that the database is older than they are.

        Returns:
            True if they were dropped.
        """
        if code == NOT_REACHED and by_leader:
            self._timeouts += 1
        if not sent or not (code.startswith(INVALID) or self._timeouts >= PATIENCE):
            return False
        with self._lock:
            self._bookmarks.difference_update(sent)
        self._timeouts = 0
        log.warning(
            "Neo4j has not, or no longer, what this process wrote (%s); if a backup was restored, this is expected.",
            code.rsplit(".", 1)[-1],
        )
        return True
