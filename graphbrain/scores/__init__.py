"""Scores of pages: live accounts of cash in `accounts`; PageRank, HITS and the like of the whole graph in `ranking`.

May touch: statements on accounts, cash, links and scores. Knows nothing of claims and reports.
"""

__all__ = [
    "accounts",
    "ranking",
]
