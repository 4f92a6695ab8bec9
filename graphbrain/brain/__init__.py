"""The public object `Brain`: its session, its verbs by topic, and the worker processes that keep scores up to date.

`session` holds the graph, settings, policy and clock that all verbs use; `names` checks the pages and hosts that
callers name. The others are the verbs, one topic each. They open transactions on the rooms below, and run them again
where the database asks for it.
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
