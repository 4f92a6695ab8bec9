"""Pages of a brain that was made by older URL rules get the keys and addresses of today's, a batch in a transaction.

Meanwhile no other process writes accounts, so no page comes and no links change; claims go on. All pages are met once,
in the order of their internal ids, which stay while keys change. A page whose new key is free takes it, in one
statement for all of a batch. Pages whose new key another page has are noted on the brain with the progress of the pass
(`rekey_merging`), and become one page with it before the pass goes on: so it can be broken off after any transaction.
Of several that become one, the page that was fetched first stays, and the links of the others move to it in bounded
batches; their accounts are repaired at both ends. The old key of a leased page is noted, so that its claim is honoured:
reports, renewals and returns look there. A page that can have no key any more, such as one of a host with a name that
today's rules refuse, keeps its old one and is parked. Statements: rekey/*, brain/note, pages/*, hosts/write,
claims/held, links/unalias.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from graphbrain.accounts import adjacency, ledgers
from graphbrain.accounts.ledgers import Accounts
from graphbrain.claims import taking
from graphbrain.corrections import requeue
from graphbrain.errors import BadInput
from graphbrain.frontier import discovery, notes, url_variants
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Again, Tx
from graphbrain.hosts import politeness
from graphbrain.schedule import lanes
from graphbrain.urls import rules_v1, rules_v2
from graphbrain.urls.normalization import (
    RULES_VERSION,
    Rules,
    address,
    host_of,
    key_of,
    name_of,
    normal,
    path_repeats,
    surplus,
)

__all__ = ["REFUSED", "Addresses", "Rekeyed", "advance", "merge", "name_now", "rename_hosts"]

PAGES_AT_ONCE = 2_500
"""Internal ids that one transaction looks at."""
WIDEST_STEP = 100_000
MERGED_AT_ONCE = 200
LINKS_AT_ONCE = 1_000
"""Links of pages that become others that one transaction moves, about: it locks the pages at their other ends."""
REFUSED = "url"
"""The reason for which a page is parked that no URL names any more."""
ALIVE = ("frontier", "known")
COUNTED_APART = frozenset(
    {"name", "discovered", "queued", "resting", "ready_at", "ripe_at", "turn_at"}
    | {"set_aside", "in_flight", "budget_used"}
)
"""Properties of a host that count its pages or follow from them: they change as the pages move, one by one."""
LARGER = ("delay", "robots_delay", "blocked_until", "blocked_at", "next_at", "errors", "response_seconds")
"""The properties of which the larger holds, of two hosts that become one; of the others that are limits, the
smaller."""
SMALLER_BUT_0 = ("most_in_flight", "budget")


@dataclass(frozen=True, slots=True)
class Rekeyed:
    """The counts of a move of a brain, or of a part of it.

    They are: pages it met, keys that changed, pages that became one with another, pages that were parked because they
    can have no key, hosts that got another name. `other_step` counts pages whose keys come neither from the rules
    before nor from these with the crawl's own step: another step has made them, and the pages keep them where they can.
    """

    pages: int = 0
    keys: int = 0
    merged: int = 0
    parked: int = 0
    hosts: int = 0
    other_step: int = 0

    def __add__(self, other: Rekeyed) -> Rekeyed:
        return Rekeyed(
            self.pages + other.pages,
            self.keys + other.keys,
            self.merged + other.merged,
            self.parked + other.parked,
            self.hosts + other.hosts,
            self.other_step + other.other_step,
        )


class Addresses:
    """Addresses and keys by today's rules, from the properties of pages of older ones. `version`: the rules that the
    brain was made by. `extra`: the user's own last step."""

    def __init__(self, version: int, rules: Rules, extra: Callable[[str], str] | None, hash_bang: bool) -> None:
        self.version, self._rules, self._extra, self._hash_bang = version, rules, extra, hash_bang

    def of(self, url: str, key: str) -> tuple[str, str, bool]:
        """Return the URL and the key of a page, by its name and its key, and whether the key is known: made by the
        older rules or by today's. Raise BadInput.

        All that follows from the URL alone is the same whenever it is asked: of a page that was moved already, too.
        """
        written = address(url, self._hash_bang)
        plain = key_of(normal(written))
        own = self._with_step(written, plain)
        if key == own:
            return written, own, True
        if self.version == rules_v1.VERSION:
            return written, own if self._step_made(url, key) else plain, True
        if key == plain:
            return written, plain, True
        if key == rules_v2.key(url, self._extra):
            return written, own, True
        before = rules_v2.key(url)
        if key == before:
            return written, plain, True
        return written, key if before == plain else own, False

    def _with_step(self, written: str, plain: str) -> str:
        """Return the key with the user's own step; without it where that fails."""
        if self._extra is None:
            return plain
        try:
            return self._rules.key(written)
        except BadInput:
            return plain

    def _step_made(self, text: str, key: str) -> bool:
        """Return whether the user's own step leaves the page's URL or key of version 1 unchanged.

        The key may also be that of version 2, from a move that was interrupted.
        """
        if self._extra is None or rules_v1.spell(text, self._extra) == text:
            return True
        return key == rules_v2.key(text, self._extra)


@dataclass(slots=True)
class _Page:
    """A page as it is named, and as it is to be: `key_now` is None where it can have none."""

    page: int
    key: str
    url: str
    host: str
    state: str
    surplus: int | None
    url_now: str = ""
    key_now: str | None = None
    version: int = rules_v2.VERSION
    known: bool = True

    @property
    def host_now(self) -> str:
        return self.host if self.key_now is None else host_of(self.url_now)

    def row(self) -> list[object]:
        """Return the row for rekey/write."""
        repeats = path_repeats(self.url_now) or None
        return [self.page, self.key_now, self.url_now, name_of(self.url_now), self.surplus_now(), repeats]

    def surplus_now(self) -> int | None:
        """An address with arguments was made by version 1 of the rules: the next link brings it as a site writes it."""
        if (self.surplus or 0) >= url_variants.MADE_UP:
            return self.surplus
        if self.version == rules_v1.VERSION:
            return url_variants.MADE_UP if any(c in self.url_now for c in "?;%(") else self.surplus
        return surplus(self.url_now) or None

    def changes(self) -> bool:
        return self.key_now is not None and (self.key_now, self.url_now, self.surplus_now()) != (
            self.key,
            self.url,
            self.surplus,
        )


def _named(rows: Iterable[Sequence[Any]], addresses: Addresses) -> list[_Page]:
    pages = [_Page(*row) for row in rows]
    for page in pages:
        page.version = addresses.version
        try:
            page.url_now, page.key_now, page.known = addresses.of(page.url, page.key)
        except BadInput:
            page.url_now = page.url
    return pages


def name_now(name: str) -> str | None:
    """Return the spelling of a host by today's rules; None where the name is no host's."""
    scheme = "https" if name.endswith(":80") else "http"  # a host name has the port 80 only if its scheme is https
    try:
        return host_of(address(f"{scheme}://{name}/"))
    except BadInput:
        return None


def rename_hosts(tx: Tx, names: Mapping[str, str], now: float) -> None:
    """Give hosts the properties of their namesakes of other spellings (old name → new): delays, limits, blocks, robots.

    Where both have a value, the stricter holds. Their pages, and the counts of these, follow page by page.
    """
    tx.do("pages/hosts", names=sorted(set(names.values())), now=now)
    properties = {row["name"]: row for row in tx.one("rekey/hosts", names=sorted({*names, *names.values()}))[0]}
    changed: dict[str, dict[str, Any]] = {}
    for old, new in sorted(names.items()):
        if old in properties:
            after = _stricter(properties[new], properties[old])
            properties[new] = {**properties[new], **after}
            changed.setdefault(new, {}).update(after)
    if rows := [[name, after] for name, after in sorted(changed.items()) if after]:
        tx.do("hosts/write", rows=rows)


def _stricter(host: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that a host takes over from an older spelling of it."""
    after: dict[str, Any] = {}
    for name, value in old.items():
        known = host.get(name)
        if name in COUNTED_APART or value is None or value == known:
            continue
        if known is None:
            after[name] = value
        elif name in LARGER:
            after[name] = max(known, value)
        elif name in SMALLER_BUT_0:
            after[name] = min(known or value, value or known)
        elif name == "pace":
            after[name] = min(known, value)
    if old.get("budget_used") is not None and host.get("budget_used") is None:
        after["budget_used"] = 0  # its pages bring theirs along
    return after


def advance(tx: Tx, first: int, last: int, addresses: Addresses, policy: Policy, now: float) -> Rekeyed:
    """Give the pages with these ids their new keys, or note that they become one with others. The caller has locked the
    brain, and no page is noted there."""
    rows, last = _next_pages(tx, first, last)
    pages = _named(rows, addresses)
    rehost(tx, [page for page in pages if page.host_now != page.host], policy, now)
    parked = [page for page in pages if page.key_now is None and page.state in ALIVE]
    if parked:
        tx.one("claims/held", ids=[page.page for page in parked])
        tx.do("pages/park", rows=[[page.page, "parked", REFUSED] for page in parked])
    changing = [page for page in pages if page.changes()]
    merging = _contested(tx, changing, addresses)
    free = [page for page in changing if page.page not in merging]
    _write(tx, free)
    # A list that is empty is none: properties of this name have one type.
    tx.do("brain/note", notes={"rekeying": last + 1, "rekey_merging": sorted(merging) or None})
    changed, strange = sum(page.key_now != page.key for page in free), sum(not page.known for page in pages)
    return Rekeyed(len(pages), changed, 0, len(parked), 0, strange)


def _next_pages(tx: Tx, first: int, last: int) -> tuple[list[list[Any]], int]:
    """Some of the pages with these ids, and the last id that was looked at. Where there is no page the steps get wider:
    ids of what is no page, or was deleted, lie between."""
    step = PAGES_AT_ONCE
    while True:
        until = min(last, first + step - 1)
        rows: list[list[Any]] = tx.one("rekey/pages", first=first, last=until)[0]
        if rows or until == last:
            return rows, until
        first, step = until + 1, min(4 * step, WIDEST_STEP)


def _contested(tx: Tx, changing: Sequence[_Page], addresses: Addresses) -> set[int]:
    """Return the pages that become one with others that have their keys, or take them before. A page that has such a
    key and is to get another gets an unused one for now."""
    wanted = {page.key_now: page for page in changing if page.key_now not in (None, page.key)}
    holders = _named(tx.one("rekey/holders", keys=sorted(filter(None, wanted)))[0], addresses) if wanted else []
    leaving = [page for page in holders if page.key_now not in (None, page.key)]
    taken = {page.key for page in holders if page.key_now in (None, page.key)}
    merging: set[int] = set()
    for page in changing:
        if page.key_now == page.key or page.key_now is None:
            continue
        if page.key_now in taken:
            merging.add(page.page)
        taken.add(page.key_now)
    _displace(tx, leaving, {page.page: page for page in changing})
    return merging


def _displace(tx: Tx, leaving: Sequence[_Page], changing: Mapping[int, _Page]) -> None:
    """Let pages leave their keys before their turn comes."""
    finals = {page.key: page.key_now for page in leaving if page.key_now is not None}
    for page in leaving:
        page.key_now, page.url_now = key_of(f"until it is moved: {page.key}"), page.url
    _write(tx, leaving, finals)
    for page in leaving:
        if page.page in changing and page.key_now is not None:
            changing[page.page].key = page.key_now


def _write(tx: Tx, changing: Sequence[_Page], finals: Mapping[str, str] | None = None) -> None:
    """Give locked or free pages their keys and addresses, notes along; who is leased is found by the old key, too.

    `finals`: old key → the key they get in the end, where this is not it.
    """
    if not changing:
        return
    rows = sorted((page.row() for page in changing), key=lambda row: row[0])  # type: ignore[arg-type,return-value]
    leased = set(tx.one("rekey/write", rows=rows)[0])
    moved = [page for page in changing if page.key_now != page.key]
    if moved:
        tx.do("rekey/notes", rows=[[page.key, page.key_now] for page in moved])
    found_by = {page.key: page.key_now for page in moved if page.page in leased and page.key_now is not None}
    _trace(tx, {old: (finals or found_by)[old] for old in found_by})


def _trace(tx: Tx, keys: Mapping[str, str]) -> None:
    if keys:
        tx.do("rekey/trace", rows=sorted([old, new] for old, new in keys.items()), rules=RULES_VERSION)


def rehost(tx: Tx, moving: Sequence[_Page], policy: Policy, now: float) -> None:
    """Give pages to the hosts that their addresses name now, with what is counted of them.

    Links inside a host may weigh less: those that come to be, or cease to be, inside one are weighed anew. Pages of
    target hosts may be paid: so are those that come there.
    """
    if not moving:
        return
    tx.do("pages/hosts", names=sorted({page.host_now for page in moving}), now=now)
    ids = sorted(page.page for page in moving)
    ledger, before, ends = None, {}, []
    if policy.rule.knows_hosts:
        weighs = policy.rule.intra_host_weight != 1.0
        near = {side: adjacency.read(tx, side, ids) if weighs else {} for side in adjacency.SIDES}
        ledger = ledgers.lock(tx, chain(ids, *chain.from_iterable(x.values() for x in near.values())), policy.rule)
        before = dict(zip(ledger.ids.tolist(), ledger.hosts.tolist(), strict=True))
        ends = sorted(
            {(page, other) for page, others in near["hub"].items() for other in others}
            | {(other, page) for page, others in near["authority"].items() for other in others}
        )
    held = {row[0]: row for row in tx.one("claims/held", ids=ids)[0]}
    met = politeness.lock(tx, {page.host for page in moving} | {page.host_now for page in moving}, policy.manners)
    for page in moving:
        row = held[page.page]
        counted, used = int(row[3] is not None and row[5]), int(row[12] or row[11])
        for name, sign in ((page.host, -1), (page.host_now, 1)):
            met[name].in_flight = max(0, met[name].in_flight + sign * counted)
            if used:
                met[name].refund(sign * used)
    tx.do("rekey/rehost", rows=[[page.page, page.host_now] for page in moving])
    if ledger is not None:
        after = before | {page.page: page.host_now for page in moving}
        lighter = 1.0 - policy.rule.intra_host_weight
        for inside_now in (True, False):
            turned = [
                (a, b)
                for a, b in ends
                if (after[a] == after[b]) == inside_now and (before[a] == before[b]) != inside_now
            ]
            if turned:
                a, b = zip(*turned, strict=True)
                ledger.reweigh(a, b, -lighter if inside_now else lighter)
        ledger.move_to_hosts({page: after[page] for page in ids})  # payouts may depend on them
        ledger.write(tx, now)
    politeness.write(tx, (met[name] for name in sorted(met)), (), now)
    for page in moving:
        page.host = page.host_now


# --------------------------------------------------------------------------------------------- several pages become one


@dataclass(slots=True)
class _Group:
    """Pages that are one page by today's rules; `winner` stays, `losers` go."""

    key: str
    winner: _Page
    losers: list[_Page] = field(default_factory=list)
    more: bool = False
    """are there others that go, in later transactions?"""


Facts = Mapping[int, tuple[Mapping[str, Any], int | None]]
"""Internal id → the properties of the page, and the id of the page it redirects to."""


def merge(tx: Tx, merging: Sequence[int], addresses: Addresses, policy: Policy, now: float) -> Rekeyed:
    """Go on with the pages that are to become one with others, as far as one transaction should; the caller has locked
    the brain."""
    listed = _named(tx.one("rekey/named", ids=sorted(merging)[:MERGED_AT_ONCE])[0], addresses)
    rest = sorted(merging)[MERGED_AT_ONCE:]
    groups, facts = _groups(tx, listed, addresses)
    chosen, out, into, whole = _within_bounds(tx, groups)
    goals = {loser.page: group.winner.page for group in chosen for loser in group.losers}
    dead = [loser for group in chosen for loser in group.losers if loser.page in whole]
    if goals:
        _unite(tx, chosen, goals, (out, into), dead, facts, policy, now)
    done = [group for group in chosen if not group.more and all(loser.page in whole for loser in group.losers)]
    _write(tx, [group.winner for group in done if group.winner.changes()])
    over = {page.page for group in done for page in (group.winner, *group.losers)}.union(page.page for page in dead)
    left = [page.page for page in listed if page.page not in over]
    tx.do("brain/note", notes={"rekey_merging": sorted([*left, *rest]) or None})
    keys = sum(group.winner.key != group.key for group in done)
    return Rekeyed(keys=keys, merged=len(dead))


def _groups(tx: Tx, listed: Sequence[_Page], addresses: Addresses) -> tuple[list[_Group], Facts]:
    """Return the pages that are one page each: those listed, with the pages that have their key."""
    same: dict[str, dict[int, _Page]] = defaultdict(dict)
    for page in listed:
        if page.key_now is not None:
            same[page.key_now][page.page] = page
    for page in _named(tx.one("rekey/holders", keys=sorted(same))[0], addresses) if same else ():
        page.key_now = page.key_now or page.key
        same[page.key].setdefault(page.page, page)
    ids = sorted({page for group in same.values() for page in group})
    facts: Facts = {row[0]: (row[1], row[2]) for row in tx.one("rekey/facts", ids=ids)[0]}
    groups = []
    for key, members in sorted(same.items()):
        ranked = sorted(members.values(), key=lambda page: _rank(page.page, facts, members))
        groups.append(_Group(key, ranked[0], ranked[1:]))
    return groups, facts


def _rank(page: int, facts: Facts, members: Collection[int]) -> tuple[Any, ...]:
    """Return the key to sort pages by so that the one that stays comes first: the page that was fetched first. An alias
    stays only where there is no page, and an alias of another spelling of itself last of all."""
    stored, goal = facts[page]
    first = stored.get("first_fetched")
    circles = stored["state"] == "alias" and goal is not None and goal in members
    return (
        circles,
        first is None,
        stored["state"] == "alias",
        first or 0.0,
        stored["state"] not in ALIVE,
        stored["discovered"],
        page,
    )


def _within_bounds(
    tx: Tx, groups: Sequence[_Group]
) -> tuple[list[_Group], dict[int, list[int]], dict[int, list[int]], set[int]]:
    """Return the groups that one transaction should deal with; the links of those who go, out and (some) in; and whose
    links these are all of."""
    losers = [loser.page for group in groups for loser in group.losers]
    out = adjacency.read(tx, "hub", losers)
    into = dict(tx.one("rekey/some_in", ids=losers, limit=LINKS_AT_ONCE)[0]) if losers else {}
    chosen: list[_Group] = []
    left = LINKS_AT_ONCE
    for group in groups:
        size = sum(len(out.get(loser.page, ())) + len(into.get(loser.page, ())) for loser in group.losers)
        if chosen and size > left:
            continue
        chosen.append(group)
        left -= size
        if size > LINKS_AT_ONCE:
            group.losers, group.more = group.losers[:1], len(group.losers) > 1
    whole = {page for page in losers if len(into.get(page, ())) < LINKS_AT_ONCE}
    return chosen, out, into, whole


def _unite(
    tx: Tx,
    chosen: Sequence[_Group],
    goals: Mapping[int, int],
    near: tuple[Mapping[int, list[int]], Mapping[int, list[int]]],
    dead: Sequence[_Page],
    facts: Facts,
    policy: Policy,
    now: float,
) -> None:
    """Move links of pages (id → id of the page that stays), and delete pages that have none left. Locks are taken in
    the order of all transactions: pages, then hosts."""
    out, into = ({page: others[page] for page in goals if page in others} for others in near)
    wanted = {*goals, *goals.values(), *chain.from_iterable(out.values()), *chain.from_iterable(into.values())}
    ledger = ledgers.lock(tx, wanted, policy.rule)
    sources = {*goals, *goals.values(), *chain.from_iterable(into.values())}
    links = adjacency.held(tx, ledger, "hub", sources)
    ended = {page.page for page in dead}
    depths = _move_links(tx, ledger, goals, links, into)
    stays = {page for page in ledger.ids.tolist() if page not in ended}
    discovery.lower(tx, ledger, {page: depth for page, depth in depths.items() if page in stays}, policy.scope)
    revived = _carry(tx, chosen, ended, facts, ledger)
    for page in sorted(ended):
        ledger.bury(page)
    ledger.write(tx, now)
    if policy.orphans != "keep":
        discovery.look_again(tx, set(ledger.in_links_turned()) - ended, now)
    if dead:
        aliases = [g.winner.page for g in chosen if g.winner.state == "alias" and g.winner.page not in revived]
        discovery.look_again(tx, aliases, now)
        tx.do("rekey/redirects", rows=[[page.page, goals[page.page]] for page in dead])
        _end_leases(tx, chosen, ended, policy, now)
        tx.do("rekey/forget", ids=sorted(ended))
        _move_notes(tx, chosen, ended)
    if revived:
        tx.do("pages/pardon", ids=revived)
        tx.do("links/unalias", ids=revived)
        tx.do("pages/state", rows=[[page, "outside", None, None] for page in revived])
        requeue.remark(tx, revived, policy, now)


def _move_links(
    tx: Tx,
    ledger: Accounts,
    goals: Mapping[int, int],
    links: Mapping[int, Sequence[int]],
    into: Mapping[int, Sequence[int]],
) -> dict[int, int]:
    """Let all links out of these pages, and those of the links into them, lead from and to the pages that stay; those
    that would be double, or lead from a page to itself, go. The depths that the pages at their ends are offered."""
    targets = {page: set(others) for page, others in links.items()}
    if not ledger.holds(target for page in goals for target in targets.get(page, ())):
        raise Again
    ends = {(page, target) for page in goals for target in targets.get(page, ())}
    ends |= {(source, page) for page, others in into.items() for source in others if page in targets.get(source, ())}
    depth: dict[int, int] = dict(zip(ledger.ids.tolist(), ledger.depth.astype(int).tolist(), strict=True))
    depths: dict[int, int] = {}
    for page, goal in goals.items():
        depths[goal] = min(depths.get(goal, depth[goal]), depth[page])
    moves: list[list[int]] = []
    gone: dict[int, list[int]] = defaultdict(list)
    for source, target in sorted(ends):
        a, b = goals.get(source, source), goals.get(target, target)
        if a == b or b in targets.setdefault(a, set()):
            gone[source].append(target)
            continue
        targets[a].add(b)
        moves.append([source, target, a, b])
    for _, _, a, b in moves:
        depths[b] = min(depths.get(b, depth[b]), depths.get(a, depth[a]) + 1)
    adjacency.delete(tx, ledger, list(gone.items()))
    adjacency.reroute(tx, ledger, moves)
    return depths


def _carry(tx: Tx, chosen: Sequence[_Group], ended: set[int], facts: Facts, ledger: Accounts) -> list[int]:
    """Give pages that stay what others bring that end now; those that wait again because such a one did."""
    rows: list[list[Any]] = []
    revived: list[int] = []
    payouts: dict[int, float | None] = {}
    for group in chosen:
        losers = [loser for loser in group.losers if loser.page in ended]
        if not losers:
            continue
        own = facts[group.winner.page][0]
        theirs = [facts[loser.page][0] for loser in losers]
        rows.append([group.winner.page, _taken_over(own, theirs)])
        after = {**own, **rows[-1][1]}
        ledger.take_relevance([[group.winner.page, after.get("relevance")]])
        if after.get("first_fetched") is not None:
            ledger.note_first_fetch({group.winner.page: after["first_fetched"]})
        if after.get("is_seed"):
            ledger.become_seeds([group.winner.page])
        given = [each["own_payout"] for each in theirs if each.get("own_payout") is not None]
        if own.get("own_payout") is None and given:
            payouts[group.winner.page] = given[0]
        if lively := [loser for loser in losers if _revives(own, facts[loser.page][0])]:
            revived.append(group.winner.page)
            group.winner.url_now = lively[0].url_now
        asked = [each["waiting_since"] for each in theirs if each["lane"] == lanes.ASKED and each.get("queue")]
        if asked and own["state"] in ALIVE and own.get("queue") is not None:
            ledger.wait_in({group.winner.page: lanes.ASKED})
            rows[-1][1]["waiting_since"] = min(asked)
    ledger.inherit_payouts(tx, payouts)
    if rows:
        tx.do("rekey/carry", rows=rows)
    return revived


def _revives(own: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a page that no longer waits must wait again, because another page that becomes one with it waits.

    A page outside the scope or never fetched does. One that was fetched and given up does only if the other was
    fetched, too.
    """
    if own["state"] in ALIVE or other["state"] not in ALIVE:
        return False
    return own["state"] == "outside" or own.get("first_fetched") is None or other.get("first_fetched") is not None


def _taken_over(own: Mapping[str, Any], theirs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the properties that a page takes over from others that are the same."""
    after: dict[str, Any] = {"discovered": min(each["discovered"] for each in (own, *theirs))}
    if any(each.get("is_seed") for each in theirs):
        after["is_seed"] = True
    firsts = [each["first_fetched"] for each in theirs if each.get("first_fetched") is not None]
    if firsts and own.get("first_fetched") is not None:
        after["first_fetched"] = min(own["first_fetched"], *firsts)
    if own.get("first_fetched") is None:
        guesses = [each["relevance"] for each in (own, *theirs) if each.get("relevance") is not None]
        after["relevance"] = max(guesses, default=None)
        if own["state"] == "frontier":
            after["waiting_since"] = min(each["waiting_since"] for each in (own, *theirs))
    for name in ("value", "interval", "relevance", "last_lease"):
        given = [each[name] for each in theirs if each.get(name) is not None]
        if own.get(name) is None and given:
            after.setdefault(name, given[0])
    if own.get("rate_shape") is None:
        rated = [each for each in theirs if each.get("rate_shape") is not None]
        after |= {name: rated[0].get(name) for name in ("rate_shape", "rate_scale")} if rated else {}
    hinted = max((each for each in theirs if each.get("hinted")), key=lambda each: each["hinted"], default=None)
    if hinted is not None and hinted["hinted"] > (own.get("hinted") or 0.0):
        after |= {name: hinted.get(name) for name in ("hinted", "hinted_by")}
    if "last_lease" in after:
        after["last_outcome"] = next(
            e.get("last_outcome") for e in theirs if e.get("last_lease") == after["last_lease"]
        )
    return {name: value for name, value in after.items() if value != own.get(name)}


LEASE = ("lease", "lease_until", "worker", "counted", "counted_at", "charged")


def _end_leases(tx: Tx, chosen: Sequence[_Group], ended: set[int], policy: Policy, now: float) -> None:
    """Move the lease of a page that ends to the one that stays, if that has none; otherwise end it. Each is noted, so
    that its claim can be recognised."""
    ids = sorted({page.page for group in chosen for page in (group.winner, *group.losers)})
    held = {row[0]: row for row in tx.one("claims/held", ids=ids)[0]}
    facts: Facts = {row[0]: (row[1], row[2]) for row in tx.one("rekey/facts", ids=ids)[0]}
    ends: dict[str, politeness.HostEffects] = {}
    traces: dict[str, str] = {}
    rows: list[list[Any]] = []
    for group in chosen:
        winner = held[group.winner.page]
        free = winner[3] is None
        for loser in (held[loser.page] for loser in group.losers if loser.page in ended):
            end = ends.setdefault(loser[2], politeness.HostEffects())
            if policy.manners.counting:
                end.spent -= loser[12]
            if loser[3] is None:
                continue
            traces[loser[1]] = group.key
            if not free:
                taking.end_lease(ends, loser)
                continue
            free = False
            stored = facts[loser[0]][0]
            taken = {name: stored.get(name) for name in LEASE} | {"queue": None, "not_before": None}
            if winner[12] and loser[11]:  # its first visit is paid for already
                end.spent -= not loser[12]
                taken["charged"] = None
            rows.append([winner[0], taken])
    if rows:
        tx.do("rekey/carry", rows=rows)
    _trace(tx, traces)
    politeness.conclude(tx, ends, {}, policy.manners, now)


def _move_notes(tx: Tx, chosen: Sequence[_Group], ended: set[int]) -> None:
    """Notes of pages that end become those of the page that stays, where it has none: in rounds, for a statement must
    not give two notes one key."""
    rounds: dict[int, list[list[str]]] = defaultdict(list)
    first = {group.winner.key: group.key for group in chosen if group.winner.key != group.key}
    for key in notes.read(tx, first) if first else ():
        notes.forget(tx, first[key])
    for group in chosen:
        keys = [group.winner.key, *(loser.key for loser in group.losers if loser.page in ended)]
        for number, key in enumerate(key for key in keys if key != group.key):
            rounds[number].append([key, group.key])
    for number in sorted(rounds):
        tx.do("rekey/notes", rows=rounds[number])
