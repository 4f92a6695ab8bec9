"""Claims: candidates of all sources, leases with fencing tokens, and the outlook where there is nothing to claim.

`sources` has the seven sources of claims, and `candidates` reads the queues of pages for one of them. `taking` is the
transaction: it locks what the sources offer, and `batches` decides which of it becomes claims. `leases` renews and ends
them, `resources`, `sitemaps` and `links` have what is no page, `idempotency` answers a repeated call, `tuning` explains
all bounds. May touch: statements on pages, claims and resources; hosts through their room.
"""

__all__ = [
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
