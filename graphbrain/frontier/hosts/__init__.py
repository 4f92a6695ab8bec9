"""Politeness: hosts and addresses, their delays, back-off, budgets and robots.txt.

A host is read and locked here, asked whether it may be visited now, given the results of visits, and written back
(`politeness`). `state` is one host: its delay, when it may be asked next, how long it is blocked after a 429 or a
Retry-After, and how it is slowed down. `health` decides when a host is ill, and how long failed pages and hosts wait
until they are tried again.
May touch: statements on hosts and addresses. Knows nothing of queues of pages or of accounts.
"""

__all__ = [
    "addresses",
    "admin",
    "clock_ahead",
    "health",
    "origins",
    "politeness",
    "politeness_policy",
    "resource",
    "robots",
    "state",
]
