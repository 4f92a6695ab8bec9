"""Aliases that are pages again, or may be, and the links that name them.

A link to an alias ends at the page to which the alias leads. When the alias leads elsewhere, or nowhere, or is a page
again, the links that name it follow, a few in one transaction. A page that was a seed only because the alias led there
is no seed any more. An alias that is freed waits to be fetched like any page that was asked for. Statements:
links/aliases_behind, links/aliases_of, links/astray, links/led_to, links/redirects, links/seeded, links/unalias,
links/unseed, pages/standing, pages/pardon, pages/state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from graphbrain.frontier import discovery
from graphbrain.frontier.corrections import requeue
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import facts
from graphbrain.graph.connection import Again, Tx
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.adjacency import Spelling
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["free", "free_those_of", "goals", "move_links"]

MOVED_AT_ONCE = 200
"""Links of an alias that one transaction moves: it locks the pages they come from."""
BEHIND_AT_ONCE = 1_000
"""The most aliases that are looked at when a page to which they lead begins to lead elsewhere; the rest are looked at
when they are visited."""


def goals(tx: Tx, ids: Iterable[int]) -> dict[int, int]:
    """Page → the page that it leads to, of those among these pages that lead to one: aliases, and pages whose
    canonicals links follow."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    led: dict[int, int] = dict(tx.one("links/led_to", ids=wanted)[0])
    return led


def free(tx: Tx, ids: Iterable[int], policy: Policy, now: float) -> int:
    """Queue aliases that are not leased as pages. Return how many of these pages were aliases."""
    wanted = sorted(set(ids))
    led: dict[int, int] = dict(tx.one("links/redirects", ids=wanted)[0]) if wanted else {}
    ledger = ledgers.of(policy.rule).lock_present(tx, {*wanted, *led.values()}, policy.rule)
    rows = tx.records("pages/standing", ids=sorted(set(wanted).intersection(ledger.ids.tolist())))
    chosen = sorted(row.page for row in rows if row.state == "alias" and row.lease_until is None)
    if not chosen:
        return 0
    tx.do("links/unalias", ids=chosen)
    tx.do("pages/pardon", ids=chosen)
    tx.do("pages/state", rows=[[page, "outside", None, None] for page in chosen])
    requeue.remark(tx, chosen, policy, now)
    requeue.ask(tx, chosen, policy, now)
    freed = {led[page] for page in chosen if page in led and ledger.holds([led[page]])}
    discovery.look_again(tx, freed.union(chosen), now)  # those they led to may be orphans now
    return len(chosen)


def free_those_of(tx: Tx, key: str, policy: Policy, now: float) -> int:
    """Free some of the aliases of a page that will be forgotten. Return their number, 0 when there are no more."""
    ids = discovery.find(tx, [key])
    if key not in ids:
        return 0
    return free(tx, tx.one("links/aliases_of", id=ids[key], limit=MOVED_AT_ONCE)[0], policy, now)


def move_links(tx: Tx, page: int, policy: Policy, now: float) -> bool:
    """Let some of the links that name a page end where it leads: at its goal if it is an alias, or if links follow its
    canonical, else at itself.

    Its value goes with them. True when none is left; a page that leads elsewhere is not looked at any more then.
    """
    stood = _stands(tx, page)
    if stood is None:
        return True
    was_alias, leads = stood
    goal = goals(tx, [page]).get(page, -1)
    end = goal if goal >= 0 or was_alias or leads else page
    # Find the next links that end elsewhere than where the page leads.
    sources = sorted(set(tx.one("links/astray", id=page, goal=goal, limit=MOVED_AT_ONCE)[0]))[:MOVED_AT_ONCE]
    names = adjacency.spelling(tx, sources)
    led = goals(tx, chain.from_iterable(spelling.named for spelling in names.values()))
    led |= {page: goal} if goal >= 0 else {}
    ends = {page, *sources, *chain.from_iterable(spelling.via for spelling in names.values())}
    # With the last of them go the seeds, and the aliases whose chain led through this page.
    done = len(sources) < MOVED_AT_ONCE
    behind = tx.one("links/aliases_behind", id=page, end=end, limit=BEHIND_AT_ONCE)[0] if done else []
    seeded: list[int] = tx.one("links/seeded", id=page)[0] if done else []
    # Lock all pages, and look again: where the page leads may have changed meanwhile.
    ledger = ledgers.lock(tx, ends.union(behind, seeded, [goal] if goal >= 0 else []), policy.rule)
    if (_stands(tx, page), goals(tx, [page]).get(page, -1)) != (stood, goal):
        raise Again("it leads elsewhere meanwhile")
    # Move the links, and end what the page was as a seed's target.
    _move(tx, ledger, page, goal if goal >= 0 else page, sources, led, policy, now)
    seeded = sorted(set(seeded).intersection(tx.one("links/seeded", id=page)[0])) if seeded else []
    unmade: list[int] = tx.one("links/unseed", id=page, ids=seeded)[0] if seeded else []
    ledger.cease_as_seeds(unmade)
    ledger.write(tx, now)
    if done:
        discovery.look_again(tx, [page] if was_alias or leads else [], None)
        discovery.look_again(tx, {*behind, *unmade}, now)
    return done


def _stands(tx: Tx, page: int) -> tuple[bool, bool] | None:
    """Return whether a page is an alias, and whether links to it count for its canonical; None if there is no such
    page."""
    rows = tx.records("pages/standing", ids=[page])
    return (rows[0].state == "alias", rows[0].leads) if rows else None


def _move(
    tx: Tx,
    ledger: Accounts,
    page: int,
    end: int,
    sources: Collection[int],
    led: Mapping[int, int],
    policy: Policy,
    now: float,
) -> None:
    """Let the links of these sources that name `page`, or end at it, end at `end`. `led`: alias → goal."""
    out, names = adjacency.read_locked(tx, ledger, "hub", sources), adjacency.spelling(tx, sources)
    moves: dict[tuple[int, int], list[int]] = {}
    new_links: adjacency.Ends = []
    lost_links: adjacency.Ends = []
    rows: list[list[object] | None] = []
    moved: list[int] = []
    # Find for each source which link it loses and which it gets.
    for source in out:
        before, links = names[source], set(out[source])
        if page not in before.named and (page == end or page not in links):
            continue
        moved.append(source)
        after = _spelt(page, end, before, links, led)
        new = {end}.difference(links, [source])
        lost = before.via.difference(after.via, [end]) | (links & {page} if end != page else set())
        if not ledger.holds(lost):
            raise Again
        if len(new) == len(lost) == 1:
            moves.setdefault((min(lost), end), []).append(source)
        else:
            new_links += [(source, sorted(new))] if new else []
            lost_links += [(source, sorted(lost))] if lost else []
        rows.append(after.row(source, before, links.difference(lost) | new))
    # Links that move as they are share one statement; the others are removed and made anew.
    noted = facts.read(tx, moved, page)
    for (old, new_end), movers in moves.items():
        adjacency.move(tx, ledger, movers, old, new_end)
    led_by = adjacency.leading(tx, moved)
    adjacency.change(tx, ledger, new_links, lost_links, now, led_by)
    adjacency.respell(tx, ledger, rows)
    # Anchors and rel of the links go with them.
    facts.carry(tx, noted, page, alias=page != end)
    if moved:
        depths = zip(moved, ledger.depths_of(moved), strict=True)
        depth = min(depth + (source not in led_by) for source, depth in depths)
        discovery.lower(tx, ledger, {end: depth}, policy.scope)


def _spelt(page: int, end: int, before: Spelling, links: Collection[int], led: Mapping[int, int]) -> Spelling:
    """Return the URL that a source names when its link to `page` ends at `end`."""
    if end == page:
        named = before.named - {page}
        # It is linked to by itself now.
        return Spelling(named, before.via.intersection(led.get(each, each) for each in named) - {page})
    # A link that ended here by way of another alias does not name this page.
    named = before.named if page in before.via else before.named | {page}
    via = before.via.intersection(led.get(each, each) for each in named) - {page}
    return Spelling(named, via | ({end} if end not in links else set()))
