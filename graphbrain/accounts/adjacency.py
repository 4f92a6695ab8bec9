"""Links appear, disappear and move, and the accounts at both their ends with them. No other module writes links.

The caller has locked the pages, and reads their links under the locks. The accounts are told what the database has
done, not what it was asked to do, so that weights and links agree whatever was read, and even if a link is there twice.
Links that are read under the locks are compared with the weights, and weights that are written with the links there are
then: where they differ, the transaction is run again (`connection.Misfit`), and no account is changed by what was read
wrongly.
A link to an alias ends where the alias leads. Which aliases a page has named is noted beside its links (`SPELLS`), and
on each link that is there for no other reason (`via`), so that links come back to an alias that is a page again.
Statements: links/create, links/delete, links/move, links/reroute, links/out, links/in, links/out_between,
links/in_between, links/out_spelt, links/packed_in, links/spell, links/spelling, pages/unlinked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from graphbrain.accounts.ledgers import Accounts
from graphbrain.arrays import Ints
from graphbrain.graph.connection import ID_BITS, LARGEST_ID, Again, Tx
from graphbrain.rules import Rule

__all__ = [
    "SIDES",
    "Ends",
    "Spelling",
    "Told",
    "begin",
    "create",
    "delete",
    "held",
    "held_payees",
    "move",
    "packed",
    "payees",
    "read",
    "read_spelt",
    "replace",
    "reroute",
    "respell",
    "spelling",
    "unpacked",
]

SIDES = {"hub": "links/out", "authority": "links/in"}
"""Along which links a side of a page pays."""
BETWEEN = {"hub": "links/out_between", "authority": "links/in_between"}
"""The same where links inside a host weigh nothing."""
INTO = "links/packed_in"
Ends = list[tuple[int, list[int]]]
"""Pages, each with the pages it links to, or no longer does; no link twice."""


def read(tx: Tx, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """Page → the pages that a side of it pays: a hub pays those it links to, an authority those that link to it.

    Pages that are gone are missing. Read without a lock: half of a transaction that is being committed may be seen.
    """
    return _ends(tx, SIDES[side], pages)


def payees(tx: Tx, side: str, pages: Iterable[int], rule: Rule) -> dict[int, list[int]]:
    """As `read`, without the ends of links that weigh nothing: these get nothing."""
    return _ends(tx, (BETWEEN if rule.weightless else SIDES)[side], pages)


def _ends(tx: Tx, statement: str, pages: Iterable[int]) -> dict[int, list[int]]:
    wanted = sorted(set(pages))
    return dict(tx.one(statement, ids=wanted)[0]) if wanted else {}


def packed(tx: Tx, statement: str, pages: Ints) -> tuple[Ints, Ints]:
    """Ids of the sources and the targets of links that are sent packed: those of these pages, or those to them."""
    ours, theirs = unpacked(pages, tx.one(statement, ids=pages.tolist())[0])
    return (theirs, ours) if statement == INTO else (ours, theirs)


def unpacked(pages: Ints, links: Sequence[int]) -> tuple[Ints, Ints]:
    """Ids of the pages and of their neighbours, from (place of the page) · 2^47 + id of the neighbour.

    A place, not an id, stands in the upper bits: two ids of Neo4j do not fit in one of its numbers.
    """
    numbers = np.array(links, dtype=np.int64)
    return pages[numbers >> ID_BITS], numbers & LARGEST_ID


def held(tx: Tx, ledger: Accounts, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """As `read`, of pages whose accounts are locked, compared with their weights. Raises Misfit."""
    links = read(tx, side, pages)
    ledger.compare(tx, side, links)
    return links


def held_payees(tx: Tx, ledger: Accounts, side: str, pages: Iterable[int]) -> dict[int, list[int]]:
    """As `payees`, of pages whose accounts are locked, compared with their weights. Raises Misfit."""
    links = payees(tx, side, pages, ledger.rule)
    ledger.compare(tx, side, links, whole=not ledger.rule.weightless)
    return links


def begin(tx: Tx, ledger: Accounts, made: Sequence[int]) -> None:
    """Tell the accounts of pages that this transaction has created, and locked since, which links to them are there:
    none, but where somebody else has linked to them in between."""
    if made:
        ledger.begin_unlinked(tx.one("pages/unlinked", ids=made)[0])


def create(tx: Tx, ledger: Accounts, ends: Ends, now: float) -> None:
    """Link pages that are not linked. Raises Again when one of them is not there."""
    sources = [page for page, others in ends for _ in others]
    if not sources:
        return
    if tx.one("links/create", rows=ends, now=now)[0] != len(sources):
        raise Again("a page was deleted while it was linked")
    ledger.relink(sources, [other for _, others in ends for other in others], 1)


def delete(tx: Tx, ledger: Accounts, ends: Ends) -> None:
    """Unlink pages."""
    gone = tx.one("links/delete", rows=ends)[0] if ends else []
    ledger.relink([source for source, _ in gone], [target for _, target in gone], -1)


def move(tx: Tx, ledger: Accounts, sources: Sequence[int], old: int, new: int) -> None:
    """Let the links of these pages to `old` end at `new`, to which none of them links."""
    moved = tx.one("links/move", sources=list(sources), old=old, new=new)[0] if sources else []
    ledger.relink(moved, [old] * len(moved), -1)
    ledger.relink(moved, [new] * len(moved), 1)


def reroute(tx: Tx, ledger: Accounts, rows: Sequence[Sequence[int]]) -> None:
    """Let links (source, target, new source, new target) begin and end elsewhere, where no such link is."""
    moved = tx.one("links/reroute", rows=sorted(rows))[0] if rows else []
    ledger.relink([row[0] for row in moved], [row[1] for row in moved], -1)
    ledger.relink([row[2] for row in moved], [row[3] for row in moved], 1)


@dataclass(frozen=True, slots=True)
class Spelling:
    """The aliases that a page names, and the pages that it links to by way of these only."""

    named: frozenset[int] = frozenset()
    via: frozenset[int] = frozenset()

    def row(self, page: int, before: Spelling, links: Iterable[int]) -> list[object] | None:
        """What is to be written when it was so `before`, and these are its links now; None: nothing."""
        via, was = self.via.intersection(links), before.via.intersection(links)
        parts = [self.named - before.named, before.named - self.named, via - was, was - via]
        return [page, *map(sorted, parts), True if self.named else None] if any(parts) else None


def read_spelt(tx: Tx, pages: Iterable[int]) -> dict[int, list[int]]:
    """Page → those it links to, and the aliases that it names: all that may have to be locked to link it anew."""
    wanted = sorted(set(pages))
    rows = tx.one("links/out_spelt", ids=wanted)[0] if wanted else []
    return {page: [*out, *named] for page, out, named in rows}


def spelling(tx: Tx, pages: Iterable[int]) -> dict[int, Spelling]:
    """What these pages name."""
    wanted = sorted(set(pages))
    rows = tx.one("links/spelling", ids=wanted)[0] if wanted else []
    return {page: Spelling(frozenset(named), frozenset(via)) for page, named, via in rows}


def respell(tx: Tx, ledger: Accounts, rows: Iterable[list[object] | None]) -> None:
    """Note what pages name (`Spelling.row`). Raises Again where an alias is not locked."""
    written = [row for row in rows if row is not None]
    for row in written:
        if not ledger.holds([*row[1], *row[2]]):  # type: ignore[misc]  # lists, as Spelling.row makes them
            raise Again
    if written:
        tx.do("links/spell", rows=written)


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody says that a page links to: these `ends`, each once, the page itself left out; they are all
    (`whole`), or may be some. `named`: the aliases by which it names some; `direct` and `via`: the ends that it names
    themselves, and by way of aliases only. `spelt`: it names aliases, or did so before."""

    page: int
    ends: list[int]
    whole: bool
    named: frozenset[int] = frozenset()
    direct: frozenset[int] = frozenset()
    via: frozenset[int] = frozenset()
    spelt: bool = False

    def spelling(self, before: Spelling, new: Iterable[int]) -> Spelling:
        """What the page names now that it links to the `new` ends, too: all that is told, or that beside the rest."""
        if self.whole:
            return Spelling(self.named, self.via)
        return Spelling(before.named | self.named, (before.via - self.direct) | self.via.intersection(new))


def replace(tx: Tx, ledger: Accounts, told: Sequence[Told], now: float) -> tuple[dict[int, list[int]], set[int]]:
    """Write the difference between the links of locked pages and those that are told.

    Return all links that these pages have then, page → those it links to, and the pages that new links lead to. Raises
    Again when an end is not locked, Misfit."""
    pages = [each.page for each in told]
    old = held(tx, ledger, "hub", compress(pages, ledger.may_link(pages)))
    spelt = spelling(tx, (each.page for each in told if each.spelt))
    links: dict[int, list[int]] = {}
    made: Ends = []
    gone: Ends = []
    names: list[list[object] | None] = []
    for each in told:
        page, before = each.page, set(old.get(each.page, ()))
        if each.whole and not ledger.holds(before):
            raise Again
        new = [end for end in each.ends if end not in before]
        lost = before.difference(each.ends) if each.whole else set[int]()
        links[page] = each.ends if each.whole else [*before, *new]
        made += [(page, new)] if new else []
        gone += [(page, sorted(lost))] if lost else []
        if page in spelt:
            names.append(each.spelling(spelt[page], new).row(page, spelt[page], links[page]))
    create(tx, ledger, made, now)
    ledger.guess_values(tx, links, dict(made))
    delete(tx, ledger, gone)
    respell(tx, ledger, names)
    return links, {end for _, ends in made for end in ends}
