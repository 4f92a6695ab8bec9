"""Findings: what is wrong with a crawl's pages and links, with how much of the authority inside the scope each wastes.

Of pages it is their authority, of links what is paid along them. One page may have several faults.
Statements: looks/page_findings, looks/link_findings, looks/copies, looks/same_titles.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphbrain.graph.connection import Graph
from graphbrain.records import Finding

__all__ = ["Finding", "findings"]

KINDS: dict[str, tuple[str, str, str, Mapping[str, int]]] = {
    "failing": ("Pages that fail", "page", "broken-pages", {}),
    "broken": ("Links to pages that fail", "link", "broken-links", {}),
    "named": ("Links that name redirects", "link", "links-to-redirects", {}),
    "chained": ("Links to redirects that lead to redirects", "link", "redirect-chains", {}),
    "led": ("Pages that lead elsewhere for now", "page", "temporary-redirects", {}),
    "copies": ("Copies of other pages", "page", "duplicates", {}),
    "barred": ("Pages that robots.txt forbids", "page", "robots-blocked", {}),
    "hidden": ("Pages that ask not to be found", "page", "noindex-pages", {}),
    "titles": ("Pages with the title of a better one", "page", "same-titles", {}),
    "thin": ("Thin pages", "page", "thin-and-huge-pages", {"thin": 1024, "huge": 2**53}),
    "orphans": ("Pages that no page links to", "page", "orphans", {}),
    "untitled": ("Pages without a title", "page", "titles", {"shortest": 0, "longest": 300}),
}
"""Fault → what it is called, what is counted, the question that names the worst, and what that is told."""


def findings(graph: Graph) -> list[Finding]:
    """Those faults that a crawl has, the most wasteful first. Reads every page, and the links to those that fail."""
    total, rows = graph.anywhere.read(lambda tx: tx.one("looks/page_findings"), "looks/page_findings")
    links = graph.anywhere.read(lambda tx: tx.one("looks/link_findings")[0], "looks/link_findings")
    copies = graph.anywhere.read(lambda tx: tx.one("looks/copies"), "looks/copies")
    titles = graph.anywhere.read(lambda tx: tx.one("looks/same_titles"), "looks/same_titles")
    found = [
        Finding(*KINDS[name], count, wasted / total if total else 0.0)
        for name, count, wasted in (*rows, *links, ("copies", *copies), ("titles", *titles))
        if count
    ]
    return sorted(found, key=lambda each: (-each.share, each.title))
