"""Discovery, reports and claims: pages are created, wait, are leased, and come back.

`validate` checks reported items, `report` writes them in one transaction, `discovery` makes pages, `claims` leases them
from the heads of the queues (`candidates`), `requeue` decides anew where they wait, `edits` are corrections.
May touch: statements on pages, visits and claims; links and hosts through their rooms.
"""

__all__ = [
    "aliases",
    "asked",
    "candidates",
    "canonicals",
    "change_hints",
    "claim_tuning",
    "claims",
    "dense",
    "discovery",
    "edits",
    "expected",
    "leases",
    "notes",
    "orphans",
    "outlook",
    "put_right",
    "rekey",
    "report",
    "requeue",
    "resource_reports",
    "resources",
    "sampling",
    "sections",
    "sitemap_state",
    "sitemaps",
    "spellings",
    "validate",
    "verdicts",
]
