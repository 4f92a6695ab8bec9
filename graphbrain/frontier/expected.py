"""Expected copies: pages that are expected to equal other pages of their host, learned from stored first visits.

Statements: sections/contents, sections/there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from graphbrain.graph.connection import Tx
from graphbrain.schedule.sections.copies import Content, CopyTrial, Expectations, may_have_copies
from graphbrain.schedule.sections.site import Site

__all__ = ["KeyOf", "compared", "contents", "expectations"]

KeyOf = Callable[[str], str | None]
"""Returns the key of the page of a URL; None if the URL names no page."""
MOST_KEYS = 1_000
"""The most pages that one statement looks up."""
FEWEST_VISITS, GROWN = 20, 1.25
"""The pages of a host are compared after this number of visits, and again whenever the number has grown by this factor.
Each comparison reads the contents of all stored visits of the host."""


def expectations(tx: Tx, site: Site, key_of: KeyOf) -> Expectations:
    """Return the expectations of copies, from the stored visits of a host."""
    tree = site.sections.tree
    trial = CopyTrial(site.visits, lambda url, echo: tree.section_of(url, echo=echo).pattern)
    return trial.learned(contents(tx, trial.wanted(), key_of), lambda urls: _there(tx, urls, key_of))


def compared(tx: Tx, site: Site, key_of: KeyOf) -> Site:
    """Return the site of a host with new expectations of copies. Return it unchanged if it has grown too little since
    the last comparison, or if no visit brought a page that may be a copy."""
    before = site.sections.copies
    if site.seen < max(FEWEST_VISITS, GROWN * before.at) or not (before.rules or may_have_copies(site.visits)):
        return site
    patterns = [leaf.pattern for leaf in site.sections.tree.leaves()]
    copies = expectations(tx, site, key_of).acting(patterns, before, site.seen)
    return replace(site, sections=replace(site.sections, copies=copies))


def _there(tx: Tx, urls: Iterable[str], key_of: KeyOf) -> set[str]:
    """Return the URLs whose pages were fetched or wait for their first visit."""
    keys = _keys(urls, key_of)
    present: set[str] = set()
    for batch in _batches(keys.values()):
        present.update(tx.one("sections/there", keys=batch)[0])
    return {url for url, key in keys.items() if key in present}


def contents(tx: Tx, urls: Iterable[str], key_of: KeyOf) -> dict[str, Content]:
    """Return URL → content, for URLs whose pages were fetched or redirect."""
    keys = _keys(urls, key_of)
    content_of: dict[str, Content] = {}
    for batch in _batches(keys.values()):
        for key, *facts, canonical, goal in tx.one("sections/contents", keys=batch)[0]:
            canonical_key = None if canonical is None else key_of(canonical)
            content_of[key] = Content(*[key, *facts, canonical_key, goal])
    return {url: content_of[key] for url, key in keys.items() if key in content_of}


def _keys(urls: Iterable[str], key_of: KeyOf) -> dict[str, str]:
    """Return URL → key, for URLs that name a page."""
    return {url: key for url in urls if (key := key_of(url)) is not None}


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    """Yield batches of at most MOST_KEYS of these keys, without duplicates."""
    wanted = sorted(set(keys))
    for start in range(0, len(wanted), MOST_KEYS):
        yield wanted[start : start + MOST_KEYS]
