"""The schedule of revisits: change rates, the value of a visit, the lanes pages wait in.

Formulas over arrays, and the two tables they keep on the graph (`priors`). A lane is the part of a queue in which pages
of about the same value wait.
May touch: statements on priors. Knows nothing of hosts, accounts or claims.
"""

__all__ = [
    "blocks",
    "change_rate",
    "fingerprints",
    "lanes",
    "novelty",
    "optimal_revisits",
    "priors",
    "shingles",
    "value",
    "words",
]
