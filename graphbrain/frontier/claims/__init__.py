"""Claims: candidates from the heads of the queues, leases with fencing tokens, and the outlook where there are none.

`candidates` reads the queues, `batches` decides by hosts which candidates become claims, `taking` is the transaction,
`leases` renews and ends them, `resources`, `sitemaps` and `links` have what is no page, `idempotency` answers a
repeated call, `tuning` explains all bounds. May touch: statements on pages, claims and resources; hosts through their
room.
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
    "taking",
    "tuning",
]
