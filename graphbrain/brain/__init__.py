"""The public object `Brain`: its session, its verbs by topic, and the worker processes that keep scores up to date.

`session` holds the graph, settings, policy and clock that all verbs use; `names` checks the pages and hosts that
callers name. Most other modules have the verbs of one topic, which open transactions on the rooms below. `combine`
answers simultaneous calls in one transaction. `outstanding` asks the database which work there is. `upkeep` does this
work for all processes, and starts a settling pass (`settle`) when the error bound is too large. `lapses` ends lapsed
leases. `workers` runs upkeep in separate processes. One process at a time settles or ranks (`exclusive_lock`).
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
