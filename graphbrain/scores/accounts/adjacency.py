"""Creation, deletion and moves of links, with the accounts at both ends. No other module writes links.

The caller has locked the pages, and reads their links under the locks. The accounts follow the links that the database
has written, not those that were requested. So weights and links agree whatever was read, even if a link exists twice.
Links that are read under the locks are compared with the weights, and weights are compared with the links when they are
written. If they differ, the transaction is run again (`connection.Misfit`), and a wrong read changes no account.

A link to an alias ends at the alias's target. `SPELLS` records the aliases that a page names, and `via` marks a link
that exists only because of an alias. If an alias becomes a page again, these links return to it.

For accounts `LEADS_TO`, a temporary redirect, is one link of weight 1 like `LINKS`: every statement here reads both. A
page with `led_by`, the status of its redirect, has at most one LEADS_TO and no LINKS; an alias has neither. Statements:
links/write, links/move, links/out, links/in, links/out_between, links/in_between, links/lead, links/leading,
links/out_spelt, links/packed_in, links/spell, links/spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from types import MappingProxyType

import numpy as np

from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.numeric.rules import Rule
from graphbrain.graph.connection import ID_BITS, LARGEST_ID, Again, Tx
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = [
    "SIDES",
    "Ends",
    "ReportedLinks",
    "Spelling",
    "change",
    "leading",
    "locked_payees",
    "move",
    "packed",
    "payees",
    "read",
    "read_locked",
    "read_spelt",
    "replace",
    "respell",
    "spelling",
    "unpacked",
]

SIDES = {"hub": "links/out", "authority": "links/in"}
"""The statement that reads the links along which a side of a page pays."""
BETWEEN = {"hub": "links/out_between", "authority": "links/in_between"}
"""The statement that leaves out links inside a host, if these have weight 0."""
INTO = "links/packed_in"
Ends = list[tuple[int, list[int]]]
"""Pages, each with the pages to which links are added or removed; no link twice."""


def read(tx: Tx, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """Return page → the pages that a side of it pays.

    A hub pays the pages it links to, an authority those that link to it. Deleted pages are missing. The read takes no
    lock, so it may see half of a transaction that is being committed.
    """
    return _ends(tx, SIDES[side], pages)


def payees(tx: Tx, side: str, pages: Iterable[int], rule: Rule) -> dict[int, list[int]]:
    """Return for each page the pages that this side of it pays. A link of weight 0 pays nothing, and is left out."""
    return _ends(tx, (BETWEEN if rule.weightless else SIDES)[side], pages)


def _ends(tx: Tx, statement: str, pages: Iterable[int]) -> dict[int, list[int]]:
    wanted = sorted(set(pages))
    return dict(tx.one(statement, ids=wanted)[0]) if wanted else {}


def packed(tx: Tx, statement: str, pages: Ints) -> tuple[Ints, Ints]:
    """Return the ids of sources and targets of packed links: the links of these pages, or those to them."""
    ours, theirs = unpacked(pages, tx.one(statement, ids=pages.tolist())[0])
    return (theirs, ours) if statement == INTO else (ours, theirs)


def unpacked(pages: Ints, links: Sequence[int]) -> tuple[Ints, Ints]:
    """Return the ids of the pages and of their neighbours, from (place of the page) · 2^47 + id of the neighbour.

    The upper bits hold a place, not an id: two ids of Neo4j do not fit into one of its integers.
    """
    numbers = np.array(links, dtype=np.int64)
    return pages[numbers >> ID_BITS], numbers & LARGEST_ID


def read_locked(tx: Tx, ledger: Accounts, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """Return page → the pages that a side of it pays, for locked pages, after a comparison with their weights.

    Raises:
        Misfit: Links and weights differ.
    """
    links = read(tx, side, pages)
    ledger.compare(tx, side, links)
    return links


def locked_payees(tx: Tx, ledger: Accounts, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """Return the result of `payees` for locked pages, after a comparison with their weights.

    Raises:
        Misfit: Links and weights differ.
    """
    links = payees(tx, side, pages, ledger.rule)
    ledger.compare(tx, side, links, whole=not ledger.rule.weightless)
    return links


def change(
    tx: Tx, ledger: Accounts, new: Ends, lost: Ends, now: float, led: Mapping[int, int] = MappingProxyType({})
) -> None:
    """Delete links, and then create others between pages that are not linked.

    `led`: page → the status of its temporary redirect, for each page whose new link is LEADS_TO.

    Raises:
        Again: One of the pages does not exist.
    """
    sources = [page for page, others in new for _ in others]
    if not sources and not lost:
        return
    links = [row for row in new if row[0] not in led] if led else new
    leading = [[page, others, led[page]] for page, others in new if page in led]
    created, removed = tx.one("links/write", lost=lost, new=links, leading=leading, now=now)
    if created != len(sources):
        raise Again("a page was deleted while it was linked")
    ledger.relink([source for source, _ in removed], [target for _, target in removed], -1)
    ledger.relink(sources, [other for _, others in new for other in others], 1)


def leading(tx: Tx, pages: Iterable[int]) -> dict[int, int]:
    """Return page → the status of its temporary redirect, for those of these locked pages that have one."""
    return dict(tx.one("links/leading", ids=sorted(pages))[0])


def move(tx: Tx, ledger: Accounts, sources: Sequence[int], old: int, new: int) -> None:
    """Move the links of these pages from `old` to `new`. None of the pages may link to `new` already."""
    moved = tx.one("links/move", sources=list(sources), old=old, new=new)[0] if sources else []
    ledger.relink(moved, [old] * len(moved), -1)
    ledger.relink(moved, [new] * len(moved), 1)


@dataclass(frozen=True, slots=True)
class Spelling:
    """The aliases that a page names, and the pages that it links to only through aliases."""

    named: frozenset[int] = frozenset()
    via: frozenset[int] = frozenset()

    def row(self, page: int, before: Spelling, links: Iterable[int]) -> list[object] | None:
        """Return the row to write for a page that had the spelling `before`, and has these links now.

        Returns:
            The page, the aliases that it names anew and no longer, the links that get `via` and lose it, and True if
            the page names an alias, else None. None if nothing changes.
        """
        via, via_before = self.via.intersection(links), before.via.intersection(links)
        parts = [self.named - before.named, before.named - self.named, via - via_before, via_before - via]
        return [page, *map(sorted, parts), True if self.named else None] if any(parts) else None


def read_spelt(tx: Tx, pages: Iterable[int]) -> dict[int, list[int]]:
    """Return page → the pages that it links or redirects to, and the aliases that it names. A change of its links may
    have to lock all of these."""
    wanted = sorted(set(pages))
    rows = tx.one("links/out_spelt", ids=wanted)[0] if wanted else []
    return {page: [*out, *named] for page, out, named in rows}


def spelling(tx: Tx, pages: Iterable[int]) -> dict[int, Spelling]:
    """Return the spelling of these pages."""
    wanted = sorted(set(pages))
    rows = tx.one("links/spelling", ids=wanted)[0] if wanted else []
    return {page: Spelling(frozenset(named), frozenset(via)) for page, named, via in rows}


def respell(tx: Tx, ledger: Accounts, rows: Iterable[list[object] | None]) -> None:
    """Write the spelling of pages (rows of `Spelling.row`).

    Raises:
        Again: An alias is not locked.
    """
    written = [row for row in rows if row is not None]
    for row in written:
        if not ledger.holds([*row[1], *row[2]]):  # type: ignore[misc]  # lists, as Spelling.row makes them
            raise Again
    if written:
        tx.do("links/spell", rows=written)


@dataclass(frozen=True, slots=True)
class ReportedLinks:
    """The links of a page as a report states them.

    Attributes:
        ends: The pages that it links to, each once, without the page itself.
        whole: True if these are all its links. Otherwise the page may have others.
        named: The aliases by which it names some ends.
        direct: The ends that it names by their own URL.
        via: The ends that it names only by aliases.
        spelt: True if it names aliases, or named some before.
        led_by: The status of its temporary redirect, whose target is its one end. None: its ends are links.
        was_led_by: `led_by` before the report.
    """

    page: int
    ends: list[int]
    whole: bool
    named: frozenset[int] = frozenset()
    direct: frozenset[int] = frozenset()
    via: frozenset[int] = frozenset()
    spelt: bool = False
    led_by: int | None = None
    was_led_by: int | None = None

    def spelling(self, before: Spelling, new: Iterable[int]) -> Spelling:
        """Return the spelling of the page after it links to the `new` ends.

        It is the stated one. If the report has only a part of the links, the spelling of the others stays.
        """
        if self.whole:
            return Spelling(self.named, self.via)
        return Spelling(before.named | self.named, (before.via - self.direct) | self.via.intersection(new))


def replace(
    tx: Tx, ledger: Accounts, changes: Sequence[ReportedLinks], now: float
) -> tuple[dict[int, list[int]], set[int]]:
    """Write the difference between the links of locked pages and the stated links.

    Returns:
        All links that these pages have afterwards, page → its ends, and the pages to which new links lead.

    Raises:
        Again: An end is not locked.
        Misfit: Links and weights differ.
    """
    # Read the links and spellings that the pages have now.
    pages = [each.page for each in changes]
    with_links = list(compress(pages, ledger.may_link(pages)))
    old = read_locked(tx, ledger, "hub", with_links) if with_links else {}
    with_aliases = [each.page for each in changes if each.spelt]
    old_spelling = spelling(tx, with_aliases) if with_aliases else {}
    # Find the difference for each page.
    links: dict[int, list[int]] = {}
    new_links: Ends = []
    lost_links: Ends = []
    spelling_rows: list[list[object] | None] = []
    for each in changes:
        page, before = each.page, set(old.get(each.page, ()))
        if each.whole and before and not ledger.holds(before):
            raise Again
        # If links become a redirect, or the other way round, all are deleted and created anew, without `via`.
        turns = each.led_by != each.was_led_by
        new = [end for end in each.ends if turns or end not in before]
        lost = before if turns else before.difference(each.ends) if each.whole else set[int]()
        links[page] = each.ends if each.whole else [*before, *new]
        new_links += [(page, new)] if new else []
        lost_links += [(page, sorted(lost))] if lost else []
        if page in old_spelling:
            spelling_before = Spelling(old_spelling[page].named) if turns else old_spelling[page]
            spelling_rows.append(each.spelling(spelling_before, new).row(page, spelling_before, links[page]))
    # Write the links of all pages at once, and then their spelling.
    led = {each.page: each.led_by for each in changes if each.led_by is not None}
    if turned := [[each.page, each.led_by] for each in changes if each.led_by != each.was_led_by]:
        tx.do("links/lead", rows=turned)
    change(tx, ledger, new_links, lost_links, now, led)
    ledger.guess_values(tx, links, dict(new_links))
    if spelling_rows:
        respell(tx, ledger, spelling_rows)
    return links, {end for _, ends in new_links for end in ends}
