"""The pages that pages of a host are expected to equal, learned from the contents that the host remembers.

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
    return trial.learned(contents(tx, trial.wanted(), key_of), lambda urls: _there(tx, urls, key_of))


def compared(tx: Tx, site: Site, key_of: KeyOf) -> Site:
    """Return the same host, its pages compared anew if it has grown enough, and if some may be copies: those bring
    nothing."""
    before = site.sections.copies
    if site.seen < max(FEWEST_VISITS, GROWN * before.at) or not (before.rules or may_have_copies(site.visits)):
        return site
    patterns = [leaf.pattern for leaf in site.sections.tree.leaves()]
    copies = expectations(tx, site, key_of).acting(patterns, before, site.seen)
    return replace(site, sections=replace(site.sections, copies=copies))


def _there(tx: Tx, urls: Iterable[str], key_of: KeyOf) -> set[str]:
    """Return those of these URLs whose pages were fetched, or wait for their first visit."""
    keys = _keys(urls, key_of)
    there: set[str] = set()
    for some in _batches(keys.values()):
        there.update(tx.one("sections/there", keys=some)[0])
    return {url for url, key in keys.items() if key in there}


def contents(tx: Tx, urls: Iterable[str], key_of: KeyOf) -> dict[str, Content]:
    """Return URL → content, of those URLs whose pages were fetched, or redirect."""
    keys = _keys(urls, key_of)
    rows: dict[str, Content] = {}
    for some in _batches(keys.values()):
        for *facts, canonical, goal in tx.one("sections/contents", keys=some)[0]:
            named = None if canonical is None else key_of(canonical)
            rows[facts[0]] = Content(*[*facts, named, goal])
    return {url: rows[key] for url, key in keys.items() if key in rows}


def _keys(urls: Iterable[str], key_of: KeyOf) -> dict[str, str]:
    """Return URL → key, of those that have one."""
    return {url: key for url in urls if (key := key_of(url)) is not None}


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    """Yield these keys without repetition, as many at a time as one statement looks up."""
    wanted = sorted(set(keys))
    for start in range(0, len(wanted), MOST_KEYS):
        yield wanted[start : start + MOST_KEYS]
