"""The public object `Brain`: its session, its verbs by topic, and the worker processes that keep scores up to date.

`session` holds the graph, settings, policy and clock that all verbs use; `names` checks the pages and hosts that
callers name. The others are the verbs, one topic each, which open transactions on the rooms below. `combine` answers
calls that come together in one transaction, `outstanding` asks what is to be done, `upkeep` does it for all processes
in the background and starts a settling pass (`settle`) where the error bound is too large, `lapses` ends leases that
are over, and `workers` are processes of their own for the scores. One process at a time settles or ranks
(`exclusive_lock`).
May touch: everything below. Knows nothing of files, Scrapy or the command line.
"""

__all__ = [
    "brain",
    "bring",
    "claim",
    "imports",
    "names",
    "observe",
    "rank",
    "session",
    "workers",
]
