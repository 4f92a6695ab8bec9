"""Claims: leases with fencing tokens, taken from the heads of the queues.

A call reads candidates in the order of the index, locks them, looks again and takes what is still free and polite.
What was taken by an attempt whose answer got lost is found again by the call's token. A lease that is not renewed
lapses and is swept: the page waits again where it was.
Statements: claims/*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphbrain import hosts
from graphbrain.graph import Clock, Tx
from graphbrain.heads import Finder
from graphbrain.hosts import SHARED_QUEUE, Host, Manners
from graphbrain.lanes import ASKED
from graphbrain.model import Claim

__all__ = ["Outlook", "Taken", "due", "lapsed", "mine", "outlook", "release", "renew", "retry", "sweep", "take"]


@dataclass(frozen=True, slots=True)
class Taken:
    """One transaction's work: claims, pages moved to host queues, and candidates that somebody else got first.

    `worths`: what the visits are worth that are not first ones.
    """

    claims: list[Claim] = field(default_factory=list)
    moved: int = 0
    lost: int = 0
    seen: int = 0
    worths: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is to come: the next moment at which something can be claimed (None: never), and whether all is over but for
    pages that are to be visited again."""

    next_ready: float | None
    finished: bool


def mine(tx: Tx, token: str, tried: Iterable[str]) -> list[Claim]:
    """The claims among the keys `tried` that carry the token, best first."""
    rows = sorted(tx.one("claims/mine", token=token, keys=sorted(tried))[0], key=lambda row: (row[7], row[0]))
    return [
        Claim(url, key, token, until, host, depth, etag, modified)
        for _, key, url, host, depth, etag, modified, _, until in rows
    ]


def take(
    tx: Tx,
    n: int,
    *,
    token: str,
    worker: str,
    clock: Clock,
    lease: float,
    manners: Manners,
    finder: Finder,
    spread: int,
    most_moves: int,
    tried: set[str],
) -> Taken:
    """Claim up to `n` pages for one worker, for `lease` seconds from when they are locked: the wait for locks shortens
    neither the lease nor the delay of a host.

    `spread`: choose at random among so many times `n` heads; 1 is the exact order, more keeps callers out of each
    other's way. `most_moves`: at most so many pages are moved to their hosts' own queues. `tried` gets the keys of the
    pages before they are leased: if the answer is lost, the claims are among them.
    """
    found = finder.find(tx, n, clock(), manners, spread)
    candidates = found.order
    waiting = tx.one("claims/lock", ids=sorted(candidates))[0] if candidates else []
    waiting.sort(key=lambda row: candidates[row[0]])
    held = _hosts_of(tx, [row[3] for row in waiting], found.idle, manners, clock())
    now = clock()
    until = now + lease
    grants: list[list[object]] = []
    moves: list[list[object]] = []
    claims: list[Claim] = []
    touched: dict[str, Host] = {}
    sources: set[str] = set()
    for page, key, url, name, depth, etag, modified, queue, _ in waiting:
        host = held.get(name)
        if host is None or host.ready(now):
            if len(grants) == n:
                continue
            if host is not None:
                host.grant(now)
                touched[name] = host
            if queue != SHARED_QUEUE:
                sources.add(queue)
            grants.append([page, True if host is not None else None])
            tried.add(key)
            claims.append(Claim(url, key, token, until, name, depth, etag, modified))
        elif queue == SHARED_QUEUE and len(moves) < most_moves:
            host.queued = True
            touched[name] = host
            moves.append([page, name])
    if grants:
        tx.do("claims/take", rows=grants, token=token, until=until, worker=worker)
    if moves:
        tx.do("claims/move", rows=moves)
    idle = [name for name in found.idle if name in held and name not in sources]
    _end_queues(tx, sources, held, touched)
    _let_rest(finder.ripe_at(tx, idle) if idle else {}, idle, held, touched)
    hosts.write(tx, (touched[name] for name in sorted(touched)), now)
    worths = [found.worth[page] for page, _ in grants if page in found.worth]
    return Taken(claims, len(moves), len(candidates) - len(waiting), len(candidates), worths)


def _hosts_of(tx: Tx, names: Sequence[str], idle: Sequence[str], manners: Manners, now: float) -> dict[str, Host]:
    """The hosts among these that claims must be polite to, locked."""
    wanted = set(names) | set(idle)
    if manners.delay > 0 or manners.most > 0:
        return hosts.lock(tx, wanted, manners)
    polite = [h.name for h in hosts.read(tx, wanted, manners).values() if h.polite(now)]
    return hosts.lock(tx, polite, manners) if polite else {}


def _end_queues(tx: Tx, sources: set[str], held: dict[str, Host], touched: dict[str, Host]) -> None:
    """A host whose own queue is empty now waits with everybody again. Its lock is held, so nobody adds meanwhile."""
    names = sorted(name for name in sources if name in held)
    if not names:
        return
    waiting = set(tx.one("claims/waiting_at", queues=names)[0])
    for name in names:
        if name not in waiting:
            held[name].queued = False
        touched[name] = held[name]


def _let_rest(ripe: Mapping[str, float], idle: Sequence[str], held: dict[str, Host], touched: dict[str, Host]) -> None:
    """Hosts in whose own queue nothing may be visited yet are not looked at before; an empty queue ends.

    What `ripe` says was read under their locks, so nothing has come since.
    """
    for name in idle:
        host = touched[name] = held[name]
        host.queued = name in ripe
        host.ripe_at = ripe.get(name, 0.0)


def _held(tx: Tx, ids: Iterable[int]) -> list[list[object]]:
    wanted = sorted(set(ids))
    rows: list[list[object]] = tx.one("claims/held", ids=wanted)[0]
    return rows


def renew(tx: Tx, tokens: dict[str, str], ids: dict[str, int], until: float) -> set[str]:
    """Hold the pages `key → token` until then; the answer is the keys still held."""
    rows = [row for row in _held(tx, ids.values()) if tokens.get(str(row[1])) == row[3]]
    tx.do("claims/renew", ids=[row[0] for row in rows], until=until)
    return {str(row[1]) for row in rows}


def release(
    tx: Tx, tokens: dict[str, str], ids: dict[str, int], revisits: bool, manners: Manners, now: float
) -> set[str]:
    """Give the pages `key → token` back; the answer is the keys that were held, or given back by this token before."""
    rows = _held(tx, ids.values())
    held = [row for row in rows if tokens.get(str(row[1])) == row[3]]
    done = {str(row[1]) for row in rows if row[3] is None and (tokens.get(str(row[1])), "returned") == (row[6], row[8])}
    _let_go(tx, held, revisits, manners, now)
    return done | {str(row[1]) for row in held}


def lapsed(tx: Tx, now: float, limit: int) -> list[int]:
    """Pages whose lease has lapsed."""
    ids: list[int] = tx.one("claims/lapsed", now=now, limit=limit)[0]
    return ids


def sweep(tx: Tx, ids: Sequence[int], revisits: bool, manners: Manners, now: float) -> int:
    """End the leases among these pages that have lapsed; how many there were."""
    rows = [row for row in _held(tx, ids) if row[4] is not None and float(str(row[4])) < now]
    _let_go(tx, rows, revisits, manners, now)
    return len(rows)


def _let_go(tx: Tx, rows: list[list[object]], revisits: bool, manners: Manners, now: float) -> None:
    """`revisits`: fetched pages wait, too; else only those that are wanted."""
    if not rows:
        return
    counted = [str(row[2]) for row in rows if row[5]]
    filing = hosts.finish(tx, counted, {str(row[2]) for row in rows}, manners, now)
    # A page that was given up, or went out of the scope, while it was leased waits in no queue.
    waits = [row[7] == "frontier" or (row[7] == "known" and (revisits or row[9] == ASKED)) for row in rows]
    back = [filing[str(row[2])] if wait else None for row, wait in zip(rows, waits, strict=True)]
    tx.do("claims/release", rows=[[row[0], queue, row[3]] for row, queue in zip(rows, back, strict=True)])


def due(tx: Tx, now: float, limit: int) -> list[int]:
    """Failed pages whose time to be tried again has come."""
    ids: list[int] = tx.one("claims/due", now=now, limit=limit)[0]
    return ids


def retry(tx: Tx, ids: Sequence[int], manners: Manners, now: float) -> int:
    """Let the failed pages among these that are due wait in a queue again; how many there were."""
    rows = tx.one("claims/retry", ids=sorted(set(ids)), now=now)[0]
    if rows:
        filing = hosts.queues(tx, {host for _, host in rows}, manners, now)
        tx.do("claims/requeue", rows=[[page, filing[host]] for page, host in rows])
    return len(rows)


def outlook(tx: Tx, finder: Finder, now: float) -> Outlook:
    """When something can be claimed next, and whether nothing can unless somebody reports more, or time passes."""
    lease_until, not_before, ready_at, rested_at = tx.one("claims/outlook")
    shared_from = finder.ripe_at(tx, [SHARED_QUEUE]).get(SHARED_QUEUE)
    if shared_from is not None and shared_from <= now:
        return Outlook(now, False)
    open_ = [moment for moment in (lease_until, not_before, ready_at) if moment is not None]
    later = [moment for moment in (shared_from, rested_at) if moment is not None]
    return Outlook(min(open_ + later, default=None), not open_)
