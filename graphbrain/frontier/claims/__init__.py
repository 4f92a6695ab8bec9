"""Claims: candidates of all sources, leases with fencing tokens, and the outlook where there is nothing to claim.

`sources` has the seven sources of claims, and `candidates` reads the queues of pages for one of them. `taking` is the
transaction: it locks what the sources offer, and `batches` decides which of it becomes claims. `leases` renews and ends
them, and puts the pages of leases that are over back into a queue. `resources` has what is claimed and is no page,
`sitemaps` finds and reads sitemaps, `sitemap_state` decides when each is read again, `links` has links to other sites.
`idempotency` answers a repeated call, `tuning` explains all bounds.
May touch: statements on pages, claims and resources; hosts through their room.
"""

__all__ = [
    "batches",
    "candidates",
    "idempotency",
    "leases",
    "links",
    "outlook",
    "resource_reports",
    "resources",
    "sampling",
    "sitemap_state",
    "sitemaps",
    "sources",
    "taking",
    "tuning",
]
