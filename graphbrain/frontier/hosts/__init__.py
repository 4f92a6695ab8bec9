"""Politeness: hosts and addresses, their delays, back-off, budgets and robots.txt.

`politeness` reads and locks hosts, applies the results of visits to them, and writes them. `state` has one host: its
delay, the time of its next claim, its back-off and its slower rate after it. `health` decides when a host is ill, and
how long failed pages and hosts wait until they are tried again.
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
