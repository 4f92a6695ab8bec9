"""The pages that pages of a host are expected to equal, learned from the contents that the host remembers.

Statements: sections/contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from graphbrain.graph.connection import Tx
from graphbrain.sections.copies import Content, CopyTrial, Expectations
from graphbrain.sections.site import Site

__all__ = ["KeyOf", "compared", "contents", "expectations"]

KeyOf = Callable[[str], str | None]
"""Returns the key of the page of a URL, None where it has none."""
MOST_KEYS = 1_000
"""Pages that one statement looks up."""
FEWEST_VISITS, GROWN = 20, 1.25
"""Pages of a host with so many visits are compared, and again when it has so many times those: each time the contents
of all pages that it remembers are read."""


def expectations(tx: Tx, site: Site, key_of: KeyOf) -> Expectations:
    """Return the expectations of copies from the visits that a host remembers."""
    tree = site.sections.tree
    trial = CopyTrial(site.visits, lambda url, echo: tree.section_of(url, echo=echo).pattern)
    return trial.learned(contents(tx, trial.wanted(), key_of))


def compared(tx: Tx, site: Site, key_of: KeyOf) -> Site:
    """Return the same host, its pages compared anew if it has grown enough."""
    before = site.sections.copies
    if site.seen < max(FEWEST_VISITS, GROWN * before.at):
        return site
    patterns = [leaf.pattern for leaf in site.sections.tree.leaves()]
    copies = expectations(tx, site, key_of).acting(patterns, before, site.seen)
    return replace(site, sections=replace(site.sections, copies=copies))


def contents(tx: Tx, urls: Iterable[str], key_of: KeyOf) -> dict[str, Content]:
    """Return URL → content, of those URLs whose pages were fetched, or redirect."""
    keys = {url: key for url in urls if (key := key_of(url)) is not None}
    wanted = sorted(set(keys.values()))
    rows: dict[str, Content] = {}
    for start in range(0, len(wanted), MOST_KEYS):
        for *facts, canonical, goal in tx.one("sections/contents", keys=wanted[start : start + MOST_KEYS])[0]:
            named = None if canonical is None else key_of(canonical)
            rows[facts[0]] = Content(*[*facts, named, goal])
    return {url: rows[key] for url, key in keys.items() if key in rows}
