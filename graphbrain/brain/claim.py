"""Claiming pages, and what a crawler does with its claims before it reports."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from graphbrain import border, tokens
from graphbrain.brain.backfill import Backfill
from graphbrain.brain.leases import Leases
from graphbrain.brain.names import Names
from graphbrain.brain.session import Session, whole
from graphbrain.errors import BadInput
from graphbrain.frontier import asked, claims, discovery
from graphbrain.frontier.claims import Outlook, Request, Taken
from graphbrain.frontier.sampling import Reach, Share, Spread
from graphbrain.frontier.verdicts import Policy
from graphbrain.graph.connection import Tx
from graphbrain.model import Claim, Claims
from graphbrain.model import number as is_number

__all__ = ["ENOUGH", "Claiming"]

LONGEST_LEASE = 604_800
"""Seconds, as of the setting `lease_seconds`."""
ALIAS_SHARE = 0.05
"""Aliases that are looked at again take this part of all claims, or what nothing else can have."""
ENOUGH = 0.8
"""This part of the claims asked for is enough where some pages could not be had: for the rest of them all would have to
be looked at again, which takes as long as for the first."""
FAIR = 0.25
"""With this part of its claims a call ends once it has moved as many pages as it may. The next call moves more."""
BULK = 1_000
"""Pages that stand in the way of others are moved by so many at once: a transaction that takes tens of milliseconds."""
CLEARING = 0.8
"""Seconds after which a call leaves it to the next ones to move more of them."""
RIGHTING = 1.0
"""Seconds after which a call leaves it to others to put right what a clock wrote that was ahead."""
BEYOND = (2_000, 30_000, 120_000)
"""To find a page behind them so many are looked at, one after another."""


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who claims: the token that all claims of a call carry, the worker's name, the caller's key if there is one."""

    token: str
    worker: str
    key: str | None = None

    def bound(self, work: Callable[[Tx], Taken]) -> Callable[[Tx], Taken]:
        """A claiming transaction that also notes what it leases by the key. It raises `asked.Answered`."""
        key = self.key
        if key is None:
            return work

        def bound(tx: Tx) -> Taken:
            taken = work(tx)
            asked.bind(tx, key, self.token, taken.claims)
            return taken

        return bound


class Claiming:
    """Hands out pages. Thread-safe: races on what it has learned of the queues do no harm."""

    def __init__(self, session: Session, names: Names, leases: Leases, backfill: Backfill) -> None:
        self._session, self._names, self._leases, self._backfill = session, names, leases, backfill
        self._spread = Spread()
        self._reach = Reach()
        self._clogged = False
        """Do pages of hosts that are not ready stand in the way of others?"""
        self._aliases = Share(ALIAS_SHARE, random.random())
        self._no_alias_at = -math.inf

    def next_urls(self, n: int, worker: str | None, wait: float, key: str | None) -> Claims:
        """Claim up to `n` pages, as `Brain.next_urls` says."""
        if not whole(n) or not 1 <= n <= 10_000:
            raise BadInput(f"next_urls takes 1 to 10000 pages, not {n!r:.80}.")
        session = self._session
        worker = border.name("worker", worker) if worker is not None and worker != "" else session.settings.worker
        if not is_number(wait) or math.isnan(wait):
            raise BadInput(f"wait must be in seconds, not {wait!r:.80}.")
        key = None if key is None else border.name("key", key)
        deadline = time.monotonic() + wait
        while True:
            claimed = self._claim_by(n, _Caller(tokens.token(session.now()), worker, key))
            if claimed.repeated:
                return claimed
            left = deadline - time.monotonic()
            if len(claimed) or claimed.finished or left <= 0:
                session.counters.add(claims=len(claimed))
                session.counters.write_now_and_then()
                return claimed
            ready_in = (claimed.next_ready or session.now() + 1.0) - session.now()
            time.sleep(min(left, max(0.01, min(ready_in, 1.0))))

    def _claim_by(self, n: int, caller: _Caller) -> Claims:
        """Claims, or those that were made before by the same key."""
        if caller.key is None:
            return self._claim(n, caller)
        try:
            claimed = self._claim(n, caller)
        except asked.Answered:
            claimed = Claims(())
        if claimed:
            return claimed
        before = self._session.perform("asked/again", _asked_again, caller.key)
        if before is None:
            return claimed
        return _fewer(before, self._look_out(), repeated=True) if len(before) < n else Claims(before, repeated=True)

    def _claim(self, n: int, caller: _Caller) -> Claims:
        self._leases.look_now_and_then(by_key=caller.key is not None)
        aliases = self._due_aliases(n, caller)
        got: list[Claim] = []
        if self._clogged:
            self._clogged = not self._clear(caller, CLEARING)
        more = self._fill(got, n - len(aliases), caller)
        self._aliases.took(len(aliases), len(aliases) + len(got), n)
        got += aliases
        righted = False
        while len(got) < n:
            if not more:  # nothing else can be had: aliases may have all of it
                got += self._take_aliases(n - len(got), caller)
            if len(got) == n:
                break
            outlook = self._look_out()
            if not righted and self._put_right(outlook):
                righted = True
            elif not outlook.overdue or not self._leases.sweep() + self._leases.release_due():
                return _fewer(got, outlook)
            more = self._fill(got, n, caller)
        return Claims(got)

    def _put_right(self, outlook: Outlook) -> bool:
        """Where there is nothing to claim for a clock that was ahead, put right what it wrote: for some time, the rest
        is left to whoever tends. False if it was not ahead."""
        if outlook.is_ahead:
            self._session.put_clock_right()
        if self._session.stored.get("putting_right") is None:
            return False
        until = time.monotonic() + RIGHTING
        self._backfill.put_right(until=lambda: time.monotonic() > until)
        return True

    def _look_out(self) -> Outlook:
        session = self._session

        def look(tx: Tx) -> Outlook:
            return claims.outlook(tx, session.finder, session.policy.manners, session.now())

        return session.graph.read(look, "claims/outlook")

    def _fill(self, got: list[Claim], n: int, caller: _Caller) -> bool:
        """Claim pages until there are `n`, or enough, or no more to be had now; may there be more, though there are
        fewer?"""
        moves_left, until = 4 * n, time.monotonic() + CLEARING
        while len(got) < n:
            taken = self._take(n - len(got), caller, moves_left)
            got += taken.claims
            moves_left -= taken.moved
            self._spread.saw(taken.seen, taken.lost)
            self._reach.ready.saw(*taken.ready)
            self._reach.shared.saw(*taken.shared)
            self._session.counters.paid(taken.worths)
            if len(got) == n or not (taken.claims or taken.in_vain):
                return False
            if taken.in_vain and len(got) >= ENOUGH * n:
                return True
            if moves_left > 0:
                continue
            if len(got) >= FAIR * n:
                return True
            if not self._clear(caller, 0.0):
                self._clogged = True
                got += self._from_behind(n - len(got), caller)
                return len(got) < n
            if time.monotonic() > until:
                return True
            moves_left = 4 * n
        return False

    def _due_aliases(self, n: int, caller: _Caller) -> list[Claim]:
        """Claim the share of aliases among `n` claims, if any are due: that is looked up once a second at most."""
        places, now = self._aliases.places(n), self._session.now()
        if not places or 0.0 <= now - self._no_alias_at < 1.0:
            return []
        claimed = self._take_aliases(places, caller)
        self._no_alias_at = -math.inf if claimed else now
        return claimed

    def _take_aliases(self, n: int, caller: _Caller) -> list[Claim]:
        """Claim up to `n` aliases that are to be looked at again."""
        graph, now = self._session.graph, self._session.now()
        if not graph.read(lambda tx: tx.one("claims/aliases_due", now=now, limit=1)[0], "claims/aliases_due"):
            return []
        work = claims.attempts(claims.take_aliases, lambda: self._request(n, caller))
        return graph.write(caller.bound(work), "claims/take_aliases").claims

    def _clear(self, caller: _Caller, seconds: float) -> bool:
        """Move pages of hosts that are not ready out of the way of others, as long as many of them are in front; False
        when time was up before."""
        until = time.monotonic() + seconds
        while True:
            taken = self._take(0, caller, BULK, BULK, "claims/clear")
            if taken.moved < BULK // 4:
                return True
            if time.monotonic() >= until:
                return False

    def _from_behind(self, n: int, caller: _Caller) -> Sequence[Claim]:
        """Claim pages from behind those that are in the way."""
        for depth in BEYOND:
            taken = self._take(n, caller, BULK, depth)
            if taken.claims:
                return taken.claims
        return ()

    def _take(self, n: int, caller: _Caller, most_moves: int, front: int = 0, name: str = "claims/take") -> Taken:
        """Claim up to `n` pages in one transaction called `name`."""
        work = claims.attempts(claims.take, lambda: self._request(n, caller, most_moves, front))
        return self._session.graph.write(caller.bound(work), name)

    def _request(self, n: int, caller: _Caller, most_moves: int = 0, front: int = 0) -> Request:
        """What an attempt at a transaction asks for, by the settings of now."""
        session = self._session
        return Request(
            n,
            token=caller.token,
            worker=caller.worker,
            clock=session.now,
            lease=session.settings.lease_seconds,
            manners=session.policy.manners,
            finder=session.finder,
            reach=self._reach,
            spread=self._spread.times,
            most_moves=most_moves,
            front=front,
        )

    def renew(self, held: Iterable[Claim], seconds: float | None) -> list[Claim | None]:
        """Hold claims longer, as `Brain.renew` says."""
        if seconds is not None and not (is_number(seconds) and 0 <= seconds <= LONGEST_LEASE):
            raise BadInput(f"A claim is held for 0 to {LONGEST_LEASE} seconds, not {seconds!r:.80}.")
        wanted = list(held)
        lease = self._session.settings.lease_seconds if seconds is None else seconds
        until = self._session.now() + lease

        def work(tx: Tx, held: dict[str, str], _policy: Policy, _now: float) -> set[str]:
            return claims.renew(tx, held, discovery.find(tx, held), until)

        kept = self._for_claims(wanted, work, "claims/renew")
        return [replace(claim, key=key, until=until) if key else None for claim, key in zip(wanted, kept, strict=True)]

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched, as `Brain.give_back` says."""

        def work(tx: Tx, held: dict[str, str], policy: Policy, now: float) -> set[str]:
            found = discovery.find(tx, held)
            return claims.release(tx, held, found, policy.rule.revisits, policy.manners, now)

        return [key is not None for key in self._for_claims(list(held), work, "claims/release")]

    def _for_claims(
        self, wanted: Sequence[Claim], work: Callable[[Tx, dict[str, str], Policy, float], set[str]], name: str
    ) -> list[str | None]:
        """Do something with claims, key → token, that answers which were good: the keys of their pages, None of the
        others."""
        good: list[str | None] = [None] * len(wanted)
        for part in self._names.rounds(wanted) if wanted else ():
            left = {number: key for number, key in part.items() if key is not None}
            while left:
                held: dict[str, str] = {}
                for number, key in left.items():
                    held.setdefault(key, wanted[number].token)
                kept = self._session.perform(name, work, held)
                # Another claim of the same page, as an older one beside that which holds it, is seen by itself.
                others = {number: key for number, key in left.items() if held[key] != wanted[number].token}
                for number, key in left.items():
                    if number not in others and key in kept:
                        good[number] = key
                left = others
        return good


def _fewer(got: Sequence[Claim], outlook: Outlook, *, repeated: bool = False) -> Claims:
    """Fewer claims than were asked for, and what to expect."""
    return Claims(
        got,
        next_ready=outlook.next_ready,
        finished=outlook.finished and not got,
        next_unfailed=outlook.next_unfailed,
        repeated=repeated,
    )


def _asked_again(tx: Tx, key: str, _policy: Policy, now: float) -> list[Claim] | None:
    return asked.again(tx, key, now)
