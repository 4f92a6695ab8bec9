"""Findings: the faults of a crawl's pages, links and hosts, each with the share of authority that it wastes.

A page wastes its authority, a link the payments along it, a host or a section the authority of its pages. The share is
that in the authority of all pages inside the scope, plus the payments of faulty links to pages outside the scope. A
page may have several faults. A question lists the pages, links or hosts of each finding. The classic engine does not
record payments along links, and its scores are no sums of stored values. Its findings are counted, and have no share.
Statements: brain/read, looks/page_findings, looks/link_findings, looks/copies, looks/same_titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from graphbrain.analyst import computed, indexability
from graphbrain.analyst.questions import ask
from graphbrain.base.records import Finding, Given
from graphbrain.content.pagefacts import INVALID
from graphbrain.graph.connection import Graph, Tx, bound

__all__ = ["Finding", "findings"]

FEW_CLICKS = 4
MEAN = 1.0
"""A page is valuable if it has this multiple of the mean authority."""
SLOW_SECONDS = 1.0
MOST_FAIL = 0.5
LITTLE_NEW = 0.5
NEAR_BITS = 3
HUGE = 2**53


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault.

    Attributes:
        title: Its title.
        what: The noun for what is counted: page, link or host.
        question: The question that lists the pages, links or hosts with the fault.
        given: The parameters of that question.
    """

    title: str
    what: str
    question: str
    given: Given = field(default_factory=dict)


SUMMED = {
    "failing": Kind("Pages that fail", "page", "broken-pages"),
    "broken": Kind("Links to pages that fail", "link", "broken-links"),
    "named": Kind("Links that name redirects", "link", "links-to-redirects"),
    "chained": Kind("Links to redirects that lead to redirects", "link", "links-to-redirects", {"steps": 2}),
    "led": Kind("Pages that lead elsewhere for now", "page", "temporary-redirects"),
    "copies": Kind("Copies of other pages", "page", "duplicates"),
    "barred": Kind("Linked pages that robots.txt forbids", "page", "robots-blocked"),
    "hidden": Kind("Pages that ask not to be found", "page", "noindex-pages"),
    "titles": Kind("Pages with the title of a better one", "page", "same-titles"),
    "thin": Kind("Thin pages", "page", "thin-and-huge-pages", {"thin": 1024, "huge": HUGE}),
    "untitled": Kind("Pages without a title", "page", "titles", {"problem": "missing"}),
    "undescribed": Kind("Pages without a description", "page", "descriptions", {"problem": "missing"}),
    "headless": Kind("Pages without a heading", "page", "headings", {"problem": "missing"}),
    "slow": Kind("Slow pages", "page", "slow-pages", {"seconds": SLOW_SECONDS}),
    "altless": Kind("Pages with images without alternative text", "page", "images"),
    "mixed": Kind("Pages of https that load files by http", "page", "insecure-content", {"problem": "mixed content"}),
    "unparsed": Kind("Pages with JSON-LD that cannot be parsed", "page", "structured-data", {"type": INVALID}),
}
"""Name in the statements that count faults → the fault."""
DEEP = Kind("Valuable pages far from the seeds", "page", "deep-pages", {"least": FEW_CLICKS, "times": MEAN})
"""The fault whose pages are found by all links."""
ORPHANS = Kind("Pages that no page links to", "page", "orphans")
"""The fault whose pages are found by all links and redirects."""
NEAR = Kind("Pages with nearly the text of a better one", "page", "near-duplicates", {"bits": NEAR_BITS})
"""The fault whose pages are found by the simhashes of all texts."""
UNFIT = Kind("Pages that search engines cannot index", "page", "indexability")
SITEMAPS = Kind("Faults of sitemaps", "page", "sitemap-entries")
"""The faults that are found by all that decides whether a page can be indexed."""
POOR = Kind("Pages of sections that bring little new", "page", "sections", {"harvest": LITTLE_NEW})
"""The fault of pages that answer and brought little themselves. Pages that fail or redirect have other faults.

It is listed last, because what a section brings is an estimate."""
ASKED = (
    Kind("Canonicals that can do harm", "page", "canonical-conflicts", {"harmless": False}),
    Kind("Versions in other languages that are of no use", "link", "hreflang"),
    Kind("Pages with several canonicals, or one in the body", "page", "several-canonicals"),
    Kind("Pages that look like the host's own 404", "page", "soft-missing-pages"),
    Kind("Hosts most of whose pages fail", "host", "failing-hosts", {"share": MOST_FAIL}),
    Kind("Hosts that answer slowly", "host", "slow-hosts", {"seconds": SLOW_SECONDS}),
)
"""Faults with few rows. They are counted from the rows of their questions, which have the column `authority`."""


def findings(graph: Graph) -> list[Finding]:
    """Return the faults that a crawl has, the most wasteful first, and the estimated one last.

    Every page and every link is read.
    """
    total, rows = graph.anywhere.read(lambda tx: tx.one("looks/page_findings"), "looks/page_findings", slow=True)
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}
    deep = Counted(DEEP, *computed.deep_sum(graph, FEW_CLICKS, MEAN))
    near = Counted(NEAR, *computed.near_sum(graph, NEAR_BITS))
    intra = float(stored.get("intra_host_weight", 1.0))
    orphans = Counted(ORPHANS, *computed.orphan_sum(graph))
    unfit, sitemaps = (
        Counted(kind, *sums) for kind, sums in zip((UNFIT, SITEMAPS), indexability.faulty_sum(graph), strict=True)
    )
    poor = Counted(POOR, *computed.section_sum(graph, LITTLE_NEW))
    counted = [*_summed(graph, rows, intra), deep, near, orphans, unfit, sitemaps, *_by_question(graph)]
    whole = None if stored.get("engine") == "classic" else total
    faults = [each.finding(whole) for each in counted if each.count]
    faults.sort(key=lambda each: (-(each.count if each.share is None else each.share), each.title))
    return [*faults, *([poor.finding(whole)] if poor.count else [])]


@dataclass(frozen=True, slots=True)
class Counted:
    """A fault that was counted.

    Attributes:
        kind: Its kind.
        count: The number of pages, links or hosts that have it.
        wasted: The sum of their authority, or of the payments along them.
        leaving: The part of the payments that is for pages outside the scope.
    """

    kind: Kind
    count: int
    wasted: float
    leaving: float = 0.0

    def finding(self, inside: float | None) -> Finding:
        """Return the finding. `inside`: the authority of all pages inside the scope; None: the share is not known."""
        whole = None if inside is None else inside + self.leaving
        share = None if whole is None else self.wasted / whole if whole else 0.0
        kind = self.kind
        return Finding(kind.title, kind.what, kind.question, kind.given, self.count, share)


def _summed(graph: Graph, pages: list[tuple[str, int, float]], intra: float) -> Iterator[Counted]:
    """Yield the faults of `SUMMED` with their counts and sums. `intra`: the weight of a link inside a host."""
    links = graph.anywhere.read(bound(Tx.one, "looks/link_findings", intra=intra), "looks/link_findings", slow=True)[0]
    copies = graph.anywhere.read(lambda tx: tx.one("looks/copies"), "looks/copies", slow=True)
    titles = graph.anywhere.read(lambda tx: tx.one("looks/same_titles"), "looks/same_titles", slow=True)
    for name, *numbers in (*pages, *links, ("copies", *copies), ("titles", *titles)):
        yield Counted(SUMMED[name], *numbers)


def _by_question(graph: Graph) -> Iterator[Counted]:
    """Yield the faults of `ASKED` with their counts and sums."""
    for kind in ASKED:
        answer = ask(graph, kind.question, limit="all", **kind.given)
        # A page that is in several rows wastes its authority once.
        owners = answer.column("url") if "url" in answer.columns else range(len(answer.rows))
        wasted = dict(zip(owners, answer.column("authority"), strict=True))
        yield Counted(kind, len(answer.rows), sum(authority or 0.0 for authority in wasted.values()))
