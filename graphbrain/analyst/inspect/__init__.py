"""Reads and proofs: scans of pages and links, the times at which pages are due, figures, sections, and the audit.

The audit recomputes accounts from their neighbours and checks leases, queues and indexes.
May touch: reading statements only.
"""

__all__ = [
    "audit",
    "classic_audit",
    "classic_pages",
    "clicks",
    "copies",
    "due",
    "figures",
    "finding",
    "pages",
    "scan",
    "sections",
]
