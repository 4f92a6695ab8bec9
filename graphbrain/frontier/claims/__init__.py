"""Claims: candidates of all sources, leases with fencing tokens, and the outlook if there is nothing to claim.

`sources` has the seven sources of claims, and `candidates` reads the queues of pages for one of them. `taking` is the
transaction: it locks the candidates, and `batches` decides which of them become claims. `leases` renews and ends
claims, and puts pages whose leases have lapsed back into a queue. `resources` has robots.txt, sitemaps and checks of
links, which are claimed like pages. `sitemaps` finds and reads sitemaps, `sitemap_state` decides when each is read
again, and `links` has links that leave the scope. `idempotency` answers a repeated call, and `tuning` explains all
bounds.
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
