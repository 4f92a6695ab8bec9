"""Facts: the parts of a report on a page and its links that the crawl does not use, stored for later questions.

Their sizes are bounded before the transaction. The transaction writes the facts of pages with their visits
(visits/write), and the facts of links after the links. Statements: facts/links, facts/spelt, facts/said.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Failed, Fetched, Link
from graphbrain.base.urls.normalization import Rules, resolved
from graphbrain.content import input_checks
from graphbrain.content.report_semantics import PAGE_FACTS, TEMPORARY
from graphbrain.frontier.reports.outcomes import Item, Verdict
from graphbrain.frontier.reports.relink import Named
from graphbrain.graph.connection import Tx
from graphbrain.schedule import fingerprints
from graphbrain.schedule import parts as page_parts

__all__ = ["LinkFacts", "carry", "led_to", "missing_simhash", "of_page", "of_visits", "parts", "read", "write_links"]

LONGEST_ANCHOR = 200
MISSING = frozenset({404, 410})
NOTHING = (None,) * len(PAGE_FACTS)
EMPTY = ("canonicals", "titles", "hreflang", "requisites", "structured")
"""The lists that are not stored if they are empty."""
RELS = ("nofollow", "ugc", "sponsored")
"""The values of rel that are stored. Other values do not describe the target of a link."""


class LinkFacts:
    """The facts of the links of one page, by the key of the target.

    Of several links to one page, the first text is stored, and the values of rel that all of them have: a single link
    without `nofollow` may be followed.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[str | None, frozenset[str]]] = {}
        self._plain: set[str] = set()
        """The targets of links without facts, until a link has facts."""

    def take(self, key: str, link: str | Link) -> None:
        """Add another link to the page of this key."""
        anchor, rel = getattr(link, "anchor", None), getattr(link, "rel", None)
        if anchor is None and rel is None and not self.found:
            self._plain.add(key)
            return
        words = frozenset(RELS).intersection((rel or "").lower().replace(",", " ").split())
        text = " ".join(input_checks.words("anchor", anchor)[: 4 * LONGEST_ANCHOR].split())[:LONGEST_ANCHOR] or None
        earlier = self.found.get(key, (None, frozenset()) if key in self._plain else None)
        self.found[key] = (text, words) if earlier is None else (earlier[0] or text, earlier[1] & words)

    def rows(self) -> dict[str, tuple[str | None, str | None]]:
        """Return key → (anchor, rel); None for a missing value."""
        return {
            key: (text, " ".join(word for word in RELS if word in words) or None)
            for key, (text, words) in self.found.items()
        }


def of_page(report: Fetched, url: str, rules: Rules, words: int | None = None) -> list[object]:
    """Return the facts of a fetched page as a row of the block `facts` of visits/write; empty if there are none.

    Content type and duration alone are not written, since every crawler reports them. `words`: the number of words that
    was counted in the body, if the report has none.
    """
    # A visit that a temporary redirect led elsewhere has no facts of its page.
    if report.led_to and report.status in TEMPORARY:
        return [*NOTHING, report.seconds]
    stated = (report.title, report.canonical, report.noindex, report.nofollow, report.language, report.size)
    of_content = (report.descriptions, report.h1, report.words, report.password_field)
    lists = (report.canonicals, report.titles, report.hreflang, report.requisites, report.structured)
    if report.not_modified or report.redirected_to is not None:
        return []
    if all(fact is None for fact in (*stated, *of_content)) and not any(lists):
        return []
    facts: dict[str, object] = {name: getattr(report, name) for name in PAGE_FACTS}
    facts |= {name: list(value) for name, value in facts.items() if isinstance(value, tuple)}
    facts |= {name: facts[name] or None for name in ("title", "language", "nofollow", "password_field", *EMPTY)}
    facts |= {"noindex": bool(report.noindex), "words": words if report.words is None else report.words}
    facts["content_type"] = (report.content_type or "").split(";")[0].strip().lower()[:100] or None
    # Other pages are stored as addresses, by which they are found.
    facts["canonical"] = _address(url, report.canonical, rules) if report.canonical else None
    versions = [item.partition(" ") for item in report.hreflang]
    facts["hreflang"] = [f"{code} {_address(url, other, rules) or other}" for code, _, other in versions] or None
    return [*facts.values(), report.seconds]


def _address(url: str, reference: str, rules: Rules) -> str | None:
    """Return the address of a page that the page of this URL names; None if the reference is none."""
    with suppress(BadInput):
        return rules.page(resolved(url, reference))[0]
    return None


def parts(item: Item) -> str | None:
    """Return the hashes of the parts that a visit shows: those of its body, of its links, and of its facts."""
    links = list(item.targets) if item.completeness == "all" else None
    title, robots = None, None
    stated = dict(zip(PAGE_FACTS, item.facts, strict=False))
    # Without facts of the page, as after a temporary redirect, noindex is not known.
    if stated.get("noindex") is not None:
        title = str(stated["title"] or "")
        robots = [word for word in ("noindex", "nofollow") if stated[word]]
    return page_parts.with_facts(item.seen.parts, links, title, robots)


def led_to(report: Fetched, url: str, rules: Rules) -> tuple[str, ...]:
    """Return the URLs to which temporary redirects, or a refresh after 0 seconds, led a visit, each as an address.

    A refresh to the page itself is left out.
    """
    if report.status not in TEMPORARY and [_key(url, each, rules) for each in report.led_to] == [rules.page(url)[1]]:
        return ()
    chain: list[str] = []
    for reference in report.led_to:
        try:
            chain.append(rules.page(resolved(chain[-1] if chain else url, reference.strip()))[0])
        except (BadInput, ValueError):  # an unusable target is stored as it was reported
            chain.append(reference)
    return tuple(chain)


def _key(url: str, reference: str, rules: Rules) -> str | None:
    """Return the key of the page that a reference leads to; None if it leads to no page."""
    with suppress(BadInput, ValueError):
        return rules.page(resolved(url, reference.strip()))[1]
    return None


def missing_simhash(report: Failed) -> int | None:
    """Return the simhash of the text of an answer 404 or 410; None for other failures, and without a text."""
    if report.body is None or report.status not in MISSING:
        return None
    text = fingerprints.visible_text(bytes(report.body))
    return fingerprints.simhash(text) if text else None


def of_visits(verdicts: Sequence[Verdict]) -> dict[str, list[list[object]]]:
    """Return the facts of the pages of accepted visits, as blocks of visits/write."""
    accepted = [v for v in verdicts if v.keep]
    # A page that has become an alias loses the facts of its earlier content.
    emptied: list[list[object]] = [
        [v.visit.page, *NOTHING, v.item.report.seconds]
        for v in accepted
        if v.answer.outcome == "alias" and _was_page(v)
    ]
    failed = [v for v in accepted if isinstance(v.item.report, Failed) and not v.item.unsent]
    return {
        "facts": [[v.visit.page, *v.item.facts] for v in accepted if v.item.facts] + emptied,
        "led": [
            [v.visit.page, list(v.item.led_to) or None, v.item.leads_to]
            for v in accepted
            if (v.item.led_to or v.visit.led) and _leads_anew(v)
        ],
        # The facts of a page include its seconds.
        "seconds": [
            [v.visit.page, v.item.report.seconds]
            for v in accepted
            if v.item.report.seconds is not None and not v.item.facts
        ],
        "recent_failures": [[v.visit.page, v.item.at, v.item.report.status or 0] for v in failed],
        "missing": [[v.visit.page, v.item.missing_simhash] for v in accepted if v.item.missing_simhash is not None],
        "found_changes": [[v.visit.page, v.item.at] for v in accepted if v.answer.outcome == "changed"],
    }


def write_links(tx: Tx, verdicts: Sequence[Verdict], named: Named) -> None:
    """Write the facts of the links of visits, after the links are written."""
    links: list[list[object]] = []
    alias_links: list[list[object]] = []
    for v in verdicts:
        aliases = named.aliases(v.item.targets) if v.item.link_facts and v.links else ()
        for key, facts in v.item.link_facts.items() if v.links else ():
            if key in named.goals and key in v.item.targets:
                (alias_links if named.ids[key] in aliases else links).append([v.visit.page, named.ids[key], *facts])
    if links:
        tx.do("facts/links", rows=links)
    if alias_links:
        tx.do("facts/spelt", rows=alias_links)


Said = Sequence[Sequence[object]]
"""Rows [id of the linking page, text or None, rel or None]."""


def read(tx: Tx, sources: Sequence[int], page: int) -> Said:
    """Return the anchors and rels of the links from these pages to a page; the page may be an alias."""
    words: Said = tx.one("facts/said", ids=list(sources), page=page)[0] if sources else []
    return words


def carry(tx: Tx, link_facts: Said, page: int, *, alias: bool) -> None:
    """Write the facts of these links again, after their target has become an alias (`alias`) or ceased to be one."""
    rows = [[source, page, anchor, rel] for source, anchor, rel in link_facts]
    if rows:
        tx.do("facts/spelt" if alias else "facts/links", rows=rows)


def _was_page(verdict: Verdict) -> bool:
    """Return whether the page was a fetched page, and no alias, before this visit."""
    was = verdict.visit
    return was.state != "alias" and was.first_fetched is not None


def _leads_anew(verdict: Verdict) -> bool:
    """Return whether the targets of temporary redirects must be written. A failed visit, or one with a 304, leaves them
    unchanged."""
    report = verdict.item.report
    return isinstance(report, Fetched) and not report.not_modified
