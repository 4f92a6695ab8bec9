"""Politeness: hosts and addresses, their delays, back-off, budgets and robots.txt.

A host is read and locked here, asked whether it may be visited now, given the results of visits, and written back.
May touch: statements on hosts and addresses. Knows nothing of queues of pages or of accounts.
"""

__all__ = ["addresses", "admin", "clock_ahead", "health", "origins", "politeness", "resource", "robots", "state"]
