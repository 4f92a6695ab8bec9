"""The moves of links that name aliases, and the return of aliases to ordinary pages.

A link to an alias ends at the page to which the alias leads, its goal. When the alias leads to another page, or becomes
an ordinary page, the links that name it move, a few in one transaction. A page that was a seed only because a seed
redirects to it is no seed any more then. An alias that becomes a page waits like a page whose immediate fetch was
requested. Statements:
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
"""Most links of an alias that one transaction moves: it locks the pages with these links."""
BEHIND_AT_ONCE = 1_000
"""Most aliases that are checked when the page to which they lead begins to lead elsewhere. The others are checked at
their next visits."""


def goals(tx: Tx, ids: Iterable[int]) -> dict[int, int]:
    """Return page → its goal, for those pages that lead to another one: aliases, and pages whose canonical links
    follow."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    goal_of: dict[int, int] = dict(tx.one("links/led_to", ids=wanted)[0])
    return goal_of


def free(tx: Tx, ids: Iterable[int], policy: Policy, now: float) -> int:
    """Turn aliases that are not claimed into ordinary pages, which wait. Return the number of these aliases."""
    # Lock the pages and their goals, and choose the aliases.
    wanted = sorted(set(ids))
    goal_of: dict[int, int] = dict(tx.one("links/redirects", ids=wanted)[0]) if wanted else {}
    ledger = ledgers.of(policy.rule).lock_present(tx, {*wanted, *goal_of.values()}, policy.rule)
    rows = tx.records("pages/standing", ids=sorted(set(wanted).intersection(ledger.ids.tolist())))
    chosen = sorted(row.page for row in rows if row.state == "alias" and row.lease_until is None)
    if not chosen:
        return 0
    # Remove their redirects, and let them wait.
    tx.do("links/unalias", ids=chosen)
    tx.do("pages/pardon", ids=chosen)
    tx.do("pages/state", rows=[[page, "outside", None, None] for page in chosen])
    requeue.remark(tx, chosen, policy, now)
    requeue.ask(tx, chosen, policy, now)
    # Check their goals, which may be orphans now.
    old_goals = {goal_of[page] for page in chosen if page in goal_of and ledger.holds([goal_of[page]])}
    discovery.look_again(tx, old_goals.union(chosen), now)
    return len(chosen)


def free_those_of(tx: Tx, key: str, policy: Policy, now: float) -> int:
    """Turn some of the aliases of a page into pages, before it is forgotten. Return their number, 0 at the end."""
    ids = discovery.find(tx, [key])
    if key not in ids:
        return 0
    return free(tx, tx.one("links/aliases_of", id=ids[key], limit=MOVED_AT_ONCE)[0], policy, now)


def move_links(tx: Tx, page: int, policy: Policy, now: float) -> bool:
    """Move some of the links that name a page to its right end: its goal if it has one, else the page itself.

    It has a goal if it is an alias, or if links follow its canonical. The accounts follow the links. Return True when
    no link is left to be moved; then the mark of the page is removed.
    """
    leading = _leading(tx, page)
    if leading is None:
        return True
    was_alias, leads = leading
    goal = goals(tx, [page]).get(page, -1)
    end = goal if goal >= 0 or was_alias or leads else page
    # Find the next links that do not end there.
    sources = sorted(set(tx.one("links/astray", id=page, goal=goal, limit=MOVED_AT_ONCE)[0]))[:MOVED_AT_ONCE]
    names = adjacency.spelling(tx, sources)
    goal_of = goals(tx, chain.from_iterable(spelling.named for spelling in names.values()))
    goal_of |= {page: goal} if goal >= 0 else {}
    ends = {page, *sources, *chain.from_iterable(spelling.via for spelling in names.values())}
    # After the last of them, find the seeds that redirect to the page, and the aliases that lead through it.
    is_last = len(sources) < MOVED_AT_ONCE
    behind = tx.one("links/aliases_behind", id=page, end=end, limit=BEHIND_AT_ONCE)[0] if is_last else []
    seeded: list[int] = tx.one("links/seeded", id=page)[0] if is_last else []
    # Lock all pages, and read again whether the page leads elsewhere: it may have changed meanwhile.
    ledger = ledgers.lock(tx, ends.union(behind, seeded, [goal] if goal >= 0 else []), policy.rule)
    if (_leading(tx, page), goals(tx, [page]).get(page, -1)) != (leading, goal):
        raise Again("it leads elsewhere meanwhile")
    # Move the links, and end the seeds that were seeds only because of a redirect.
    _move(tx, ledger, page, goal if goal >= 0 else page, sources, goal_of, policy, now)
    seeded = sorted(set(seeded).intersection(tx.one("links/seeded", id=page)[0])) if seeded else []
    former_seeds: list[int] = tx.one("links/unseed", id=page, ids=seeded)[0] if seeded else []
    ledger.cease_as_seeds(former_seeds)
    ledger.write(tx, now)
    # Remove the mark of the page, and check the others.
    if is_last:
        discovery.look_again(tx, [page] if was_alias or leads else [], None)
        discovery.look_again(tx, {*behind, *former_seeds}, now)
    return is_last


def _leading(tx: Tx, page: int) -> tuple[bool, bool] | None:
    """Return (whether a page is an alias, whether links to it count for its canonical); None if there is no such
    page."""
    rows = tx.records("pages/standing", ids=[page])
    return (rows[0].state == "alias", rows[0].leads) if rows else None


def _move(
    tx: Tx,
    ledger: Accounts,
    page: int,
    end: int,
    sources: Collection[int],
    goal_of: Mapping[int, int],
    policy: Policy,
    now: float,
) -> None:
    """Let the links of sources that name `page`, or end at it, end at `end`. `goal_of`: alias → its goal."""
    out, names = adjacency.read_locked(tx, ledger, "hub", sources), adjacency.spelling(tx, sources)
    moves: dict[tuple[int, int], list[int]] = {}  # (old end, new end) → sources
    new_links: adjacency.Ends = []
    removed_links: adjacency.Ends = []
    rows: list[list[object] | None] = []
    movers: list[int] = []
    # Find for each source which links it loses, and whether it gets a new one.
    for source in out:
        before, links = names[source], set(out[source])
        if page not in before.named and (page == end or page not in links):
            continue
        movers.append(source)
        after = _spelt(page, end, before, links, goal_of)
        new = {end}.difference(links, [source])
        removed = before.via.difference(after.via, [end]) | (links & {page} if end != page else set())
        if not ledger.holds(removed):
            raise Again
        if len(new) == len(removed) == 1:
            moves.setdefault((min(removed), end), []).append(source)
        else:
            new_links += [(source, sorted(new))] if new else []
            removed_links += [(source, sorted(removed))] if removed else []
        rows.append(after.row(source, before, links.difference(removed) | new))
    # Move links that are exchanged one for one by one statement. Remove and create the others.
    anchors = facts.read(tx, movers, page)
    for (old_end, new_end), sources_of_move in moves.items():
        adjacency.move(tx, ledger, sources_of_move, old_end, new_end)
    redirecting = adjacency.leading(tx, movers)
    adjacency.change(tx, ledger, new_links, removed_links, now, redirecting)
    adjacency.respell(tx, ledger, rows)
    # Move the anchors and rel of the links, too, and lower the depth of their end.
    facts.carry(tx, anchors, page, alias=page != end)
    if movers:
        depths = zip(movers, ledger.depths_of(movers), strict=True)
        depth = min(depth + (source not in redirecting) for source, depth in depths)
        discovery.lower(tx, ledger, {end: depth}, policy.scope)


def _spelt(page: int, end: int, before: Spelling, links: Collection[int], goal_of: Mapping[int, int]) -> Spelling:
    """Return the spelling of a source after its link to `page` was moved to `end`. `before`, `links`: its spelling and
    its links before that; `goal_of`: alias → its goal."""
    if end == page:
        # The source links to the page itself, so it names no alias.
        named = before.named - {page}
        return Spelling(named, before.via.intersection(goal_of.get(each, each) for each in named) - {page})
    # A link that ended at the page because it names another alias does not name the page.
    named = before.named if page in before.via else before.named | {page}
    via = before.via.intersection(goal_of.get(each, each) for each in named) - {page}
    return Spelling(named, via | ({end} if end not in links else set()))
