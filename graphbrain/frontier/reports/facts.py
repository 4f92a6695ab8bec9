"""Facts: the parts of a report on a page and its links that the crawl does not use, kept for later questions.

They are made before the transaction, bounded, and written in it where there are some: those of pages with their visits
(visits/write). Statements: facts/links, facts/spelt, facts/said.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Failed, Fetched, Link
from graphbrain.base.urls.normalization import Rules, resolved
from graphbrain.content import input_checks
from graphbrain.content.report_semantics import TEMPORARY
from graphbrain.frontier.reports.outcomes import Verdict
from graphbrain.frontier.reports.relink import Named
from graphbrain.graph.connection import Tx
from graphbrain.schedule import fingerprints

__all__ = ["LinkFacts", "carry", "led_to", "missing_simhash", "of_page", "of_visits", "read", "write_links"]

LONGEST_ANCHOR = 200
MISSING = frozenset({404, 410})
RELS = ("nofollow", "ugc", "sponsored")
"""The values of rel that are kept; the rest does not describe the target of a link."""


class LinkFacts:
    """Facts of the links of one page, by the target's key.

    Of several links to a page the first text counts, and of rel what all of them say: one that may be followed is
    enough.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[str | None, frozenset[str]]] = {}
        self._plain: set[str] = set()
        """targets of links without facts, while no link has any"""

    def take(self, key: str, link: str | Link) -> None:
        """Another link to that page."""
        anchor, rel = getattr(link, "anchor", None), getattr(link, "rel", None)
        if anchor is None and rel is None and not self.found:
            self._plain.add(key)
            return
        words = frozenset(RELS).intersection((rel or "").lower().replace(",", " ").split())
        text = " ".join(input_checks.words("anchor", anchor)[: 4 * LONGEST_ANCHOR].split())[:LONGEST_ANCHOR] or None
        earlier = self.found.get(key, (None, frozenset()) if key in self._plain else None)
        self.found[key] = (text, words) if earlier is None else (earlier[0] or text, earlier[1] & words)

    def rows(self) -> dict[str, tuple[str | None, str | None]]:
        """Return key → (anchor, rel), None where there is none."""
        return {
            key: (text, " ".join(word for word in RELS if word in words) or None)
            for key, (text, words) in self.found.items()
        }


def of_page(report: Fetched, url: str, rules: Rules) -> list[object]:
    """Return the facts of a fetched page as a row of the block `facts` of visits/write; empty where none was reported.

    Content type and duration alone are no reason to write: every crawler reports them.
    """
    if report.led_to and report.status in TEMPORARY:
        return [None] * 8 + [report.seconds]
    stated = (report.title, report.canonical, report.noindex, report.nofollow, report.language, report.size)
    if report.not_modified or report.redirected_to is not None:
        return []
    if all(fact is None for fact in stated) and not report.canonicals:
        return []
    canonical = None
    if report.canonical:
        with suppress(BadInput):
            canonical = rules.page(resolved(url, report.canonical))[0]
    kind = (report.content_type or "").split(";")[0].strip().lower()[:100] or None
    return [
        report.title or None,
        canonical,
        list(report.canonicals) or None,
        bool(report.noindex),
        report.nofollow or None,
        report.language or None,
        report.size,
        kind,
        report.seconds,
    ]


def led_to(report: Fetched, url: str, rules: Rules) -> tuple[str, ...]:
    """Return the URLs to which temporary redirects, or a refresh in 0 seconds, led a visit, each as an address.

    A refresh that leads to its own page loads it again, and is left out.
    """
    if report.status not in TEMPORARY and [_key(url, each, rules) for each in report.led_to] == [rules.page(url)[1]]:
        return ()
    chain: list[str] = []
    for reference in report.led_to:
        try:
            chain.append(rules.page(resolved(chain[-1] if chain else url, reference.strip()))[0])
        except (BadInput, ValueError):  # as it is: what leads nowhere is worth knowing, too
            chain.append(reference)
    return tuple(chain)


def _key(url: str, reference: str, rules: Rules) -> str | None:
    """The key of the page that a reference leads to; None where it leads to none."""
    with suppress(BadInput, ValueError):
        return rules.page(resolved(url, reference.strip()))[1]
    return None


def missing_simhash(report: Failed) -> int | None:
    """Return the simhash of the text with which a server answers that there is no such page."""
    if report.body is None or report.status not in MISSING:
        return None
    text = fingerprints.visible_text(bytes(report.body))
    return fingerprints.simhash(text) if text else None


def of_visits(verdicts: Sequence[Verdict]) -> dict[str, list[list[object]]]:
    """Return the facts of the pages of visits that count, as blocks of visits/write."""
    kept = [v for v in verdicts if v.keep]
    # The facts of an alias's own earlier content are removed.
    was: list[list[object]] = [
        [v.visit.page, *[None] * 8, v.item.report.seconds] for v in kept if v.answer.outcome == "alias" and _was_page(v)
    ]
    failed = [v for v in kept if isinstance(v.item.report, Failed) and not v.item.unsent]
    return {
        "facts": [[v.visit.page, *v.item.facts] for v in kept if v.item.facts] + was,
        "led": [
            [v.visit.page, list(v.item.led_to) or None, v.item.leads_to]
            for v in kept
            if (v.item.led_to or v.visit.led) and _leads_anew(v)
        ],
        # With the facts of a page its seconds are written.
        "seconds": [
            [v.visit.page, v.item.report.seconds]
            for v in kept
            if v.item.report.seconds is not None and not v.item.facts
        ],
        "recent_failures": [[v.visit.page, v.item.at, v.item.report.status or 0] for v in failed],
        "missing": [[v.visit.page, v.item.missing_simhash] for v in kept if v.item.missing_simhash is not None],
        "found_changes": [[v.visit.page, v.item.at] for v in kept if v.answer.outcome == "changed"],
    }


def write_links(tx: Tx, verdicts: Sequence[Verdict], named: Named) -> None:
    """Write the facts of the links of visits, after the links are written."""
    links: list[list[object]] = []
    spelt: list[list[object]] = []
    for v in verdicts:
        aliases = named.aliases(v.item.targets) if v.item.link_facts and v.links else ()
        for key, facts in v.item.link_facts.items() if v.links else ():
            if key in named.goals and key in v.item.targets:
                (spelt if named.ids[key] in aliases else links).append([v.visit.page, named.ids[key], *facts])
    if links:
        tx.do("facts/links", rows=links)
    if spelt:
        tx.do("facts/spelt", rows=spelt)


Said = Sequence[Sequence[object]]
"""[id of the page that links, text or None, rel or None]"""


def read(tx: Tx, sources: Sequence[int], page: int) -> Said:
    """Return the anchors and rels of the links of these pages to a page, or to the alias that it is."""
    words: Said = tx.one("facts/said", ids=list(sources), page=page)[0] if sources else []
    return words


def carry(tx: Tx, link_facts: Said, page: int, *, alias: bool) -> None:
    """Write again what was `said`, now that the page has become an alias, or is none any more."""
    rows = [[source, page, anchor, rel] for source, anchor, rel in link_facts]
    if rows:
        tx.do("facts/spelt" if alias else "facts/links", rows=rows)


def _was_page(verdict: Verdict) -> bool:
    """Return whether this visit made a page an alias that had been fetched before."""
    was = verdict.visit
    return was.state != "alias" and was.first_fetched is not None


def _leads_anew(verdict: Verdict) -> bool:
    """Return whether the targets of temporary redirects must be written. A visit without an answer, or with a 304,
    keeps them."""
    report = verdict.item.report
    return isinstance(report, Fetched) and not report.not_modified
