"""Findings: what is wrong with a crawl's pages and links, with how much of the authority inside the scope each wastes.

Of pages it is their authority, of links what is paid along them. One page may have several faults.
Statements: looks/page_findings, looks/link_findings, looks/copies.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphbrain.graph.connection import Graph

__all__ = ["Finding", "findings"]

KINDS = {
    "failing": ("Pages that fail", "pages", "broken-pages"),
    "broken": ("Links to pages that fail", "links", "broken-links"),
    "named": ("Links that name redirects", "links", "links-to-redirects"),
    "led": ("Pages that lead elsewhere for now", "pages", "temporary-redirects"),
    "copies": ("Copies of other pages", "pages", "duplicates"),
    "barred": ("Pages that robots.txt forbids", "pages", "robots-blocked"),
    "hidden": ("Pages that ask not to be found", "pages", "noindex-pages"),
    "untitled": ("Pages without a title", "pages", "titles"),
}
"""Fault → what it is called, what is counted, and the question that names the worst."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault: `count` pages or links (`what`) have it. `share`: of the authority inside the scope, 0..1, that these
    pages hold, or that is paid along these links. `question`: names them."""

    title: str
    what: str
    question: str
    count: int
    share: float


def findings(graph: Graph) -> list[Finding]:
    """Those faults that a crawl has, the most wasteful first. Reads every page, and the links to those that fail."""
    total, rows = graph.read(lambda tx: tx.one("looks/page_findings"), "looks/page_findings")
    links = graph.read(lambda tx: tx.one("looks/link_findings")[0], "looks/link_findings")
    copies, score = graph.read(lambda tx: tx.one("looks/copies"), "looks/copies")
    found = [
        Finding(*KINDS[name], count, wasted / total if total else 0.0)
        for name, count, wasted in (*rows, *links, ("copies", copies, score))
        if count
    ]
    return sorted(found, key=lambda each: (-each.share, each.title))
