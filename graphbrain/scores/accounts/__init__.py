"""Live scores: the cash of each page's hub and authority side, exact at every moment.

A `ledger` locks the accounts of some pages, records changes of these pages, and writes both ends of every link that it
touches. `pushes` move cash; `settlement` and `forwards` solve for the fixed point at once. The classic_* modules are
the engine of 2003 and 2015. Other rooms read a ledger's arrays, and call its operations to change them.
May touch: statements on accounts, cash and links. Only this room writes links. Knows nothing of claims and reports.
"""

__all__ = [
    "adjacency",
    "algebra",
    "classic_algebra",
    "classic_ledger",
    "classic_pushes",
    "conversion",
    "exact_ledger",
    "forwards",
    "ledger",
    "ledgers",
    "partition",
    "payout_policy",
    "pushes",
    "settlement",
    "solve",
]
