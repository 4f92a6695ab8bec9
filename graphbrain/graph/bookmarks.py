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
"""The code for bookmarks that are not of this database. The code for bookmarks of several databases,
`InvalidBookmarkMixture`, begins with it, too."""
NOT_REACHED = "Neo.TransientError.Transaction.BookmarkTimeout"
"""The code for a bookmark that the member has not reached within its limit of time."""
PATIENCE = 2
"""Number of time-outs of the leader in a row after which the database counts as older than the bookmarks. A leader has
all that was committed, but a new leader needs some time to apply it."""
log = logging.getLogger(__name__)


class Bookmarks:
    """The bookmarks of all sessions of a connection, also after its driver was replaced. Thread-safe.

    The driver uses it as its `BookmarkManager`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bookmarks: set[str] = set()
        self._timeouts = 0

    def update_bookmarks(self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]) -> None:
        """Replace the bookmarks that a session began with by those that it ended with. The driver calls this."""
        if new_bookmarks:
            with self._lock:
                self._bookmarks.difference_update(previous_bookmarks)
                self._bookmarks.update(new_bookmarks)

    def get_bookmarks(self) -> set[str]:
        """Return the bookmarks that a new session must wait for. The driver calls this, too."""
        with self._lock:
            return set(self._bookmarks)

    def accepted(self) -> None:
        """Note that a member has reached the bookmarks."""
        self._timeouts = 0

    def refused(self, code: str, sent: Collection[str], by_leader: bool) -> bool:
        """Drop bookmarks if an error shows that the database is older than they are.

        Args:
            code: The code of the error.
            sent: The bookmarks of the transaction that failed.
            by_leader: True if the leader has answered.

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
