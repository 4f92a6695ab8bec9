"""Claims of pages, and their renewal and return before a report.

Calls that come at the same time are combined (`combine`): one transaction claims for all of them, and the pages are
distributed, each with its call's own token, worker and key.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import KINDS, PAGES, Claim, Claims, Kind
from graphbrain.base.model import number as is_number
from graphbrain.base.runtime import tokens
from graphbrain.brain import note, outstanding
from graphbrain.brain.backfill import Backfill
from graphbrain.brain.claim_round import Caller, Round, RoundTicket, Wish
from graphbrain.brain.combine import Combiner
from graphbrain.brain.leases import LEASED, Leases
from graphbrain.brain.session import Session, whole
from graphbrain.content import input_checks
from graphbrain.frontier.claims import idempotency, leases, resources, sitemaps, taking, tuning
from graphbrain.frontier.claims.leases import Leasing
from graphbrain.frontier.claims.outlook import PAUSED, Beside, ClaimOutlook, of_wanted
from graphbrain.frontier.claims.outlook import outlook as outlook_now
from graphbrain.frontier.claims.sampling import ClaimShare, Reach, Spread
from graphbrain.frontier.claims.taking import ClaimRequest, Holder, Taken, Work
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["Claiming"]

LOOK_EVERY, FORGET_EVERY = 1.0, 60.0
"""Seconds between two looks at what is to be done, and between two deletions of expired keys."""
LONGEST_LEASE = 604_800
"""The longest lease in seconds, as of the setting `lease_seconds`."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One claiming transaction of a round.

    Attributes:
        name: Its name in the log and in the metrics.
        n: The largest number of pages to claim; 0 only moves pages out of the way.
        work: The transaction.
        most_moves, front, now_only, tries: As in `claims.Request`.
        kind: The kind of what is claimed. Kinds other than pages come from lines of their own (`resources.LINES`).
        beside_pages: As in `taking.ClaimRequest`.
    """

    name: str
    n: int
    work: Work = taking.take
    most_moves: int = 0
    front: int = 0
    now_only: bool = False
    tries: bool = False
    kind: Kind = "page"
    beside_pages: bool = False


class Claiming:
    """Claims pages. Thread-safe: races on what it has learned of the queues do no harm."""

    def __init__(self, session: Session, leases: Leases, backfill: Backfill) -> None:
        self._session, self._leases, self._backfill = session, leases, backfill
        self._spread = Spread()
        self._reach = Reach()
        self._clogged = False
        """True if pages of hosts that are not ready are in the way of others."""
        self._aliases = ClaimShare(lambda: tuning.ALIAS_SHARE, random.random())
        self._tries = ClaimShare(lambda: session.settings.harvest_reserve, tuning.TRIES_LUCK)
        self._shares: Mapping[Kind, ClaimShare] = {
            kind: ClaimShare(lambda: tuning.RESOURCE_SHARE, random.random()) for kind in resources.LINES
        }
        self._lock = threading.Lock()
        self._looked_at, self._forgot_at = -math.inf, session.now()
        self._beside: set[Beside] = set()
        """The kinds of claims beside the queues of pages of which there seems to be one: as of the last look, without
        those of which a call has found none since."""
        self._sought: dict[tuple[str, bool], float] = {}
        """Host, and whether its robots.txt had to be known → when its sitemaps were looked for."""
        self._combiners: dict[tuple[bool, bool], Combiner[Wish, Claims]] = {
            (now_only, robots): Combiner(
                partial(self._answer, now_only=now_only, robots=robots),
                "claims",
                most=tuning.COMBINED,
                alone=tuning.ALONE,
                undo=self._untold,
            )
            for now_only in (False, True)
            for robots in (False, True)
        }
        """Combiners by whether only pages that were asked for by hand are wanted, and whether robots.txt is: both
        change which pages are claimed. Calls for other kinds are combined."""

    def next_urls(
        self,
        n: int,
        worker: str | None,
        wait: float,
        key: str | None,
        now_only: bool = False,
        kinds: Iterable[str] | None = None,
        notes: bool = False,
    ) -> Claims:
        """Claim up to `n` pages, as `Brain.next_urls` describes."""
        wanted = _kinds(kinds)
        wish = self._wish(n, worker, key, now_only, wanted, notes)
        if not is_number(wait) or math.isnan(wait):
            raise BadInput(f"wait must be in seconds, not {wait!r:.80}.")
        deadline = time.monotonic() + wait
        while True:
            claimed = self._combiners[wish.now_only, "robots" in wish.kinds].do(wish, wish.holder.worker, wish.n)
            left = deadline - time.monotonic()
            if len(claimed) or claimed.repeated or claimed.finished or left <= 0:
                return claimed
            self._wait_for(claimed.next_ready, left)
            wish = self._wish(n, worker, key, now_only, wanted, notes)

    def _wait_for(self, next_ready: float | None, most: float) -> None:
        """Sleep until a page may be claimable (epoch seconds, None: not known), at most a second and `most` seconds."""
        now = self._session.now()
        ready_in = (next_ready or now + 1.0) - now
        time.sleep(min(most, max(0.01, min(ready_in, 1.0))))

    def soon(
        self,
        n: int,
        worker: str | None,
        key: str | None,
        owner: Hashable,
        now_only: bool = False,
        kinds: Iterable[str] | None = None,
    ) -> Future[Claims] | None:
        """Claim pages without waiting for them or for the answer. `owner`: takes turns with other owners. Return None
        for so many pages that they take a thread of the caller's own."""
        wish = self._wish(n, worker, key, now_only, _kinds(kinds))
        combiner = self._combiners[wish.now_only, "robots" in wish.kinds]
        return None if wish.n >= combiner.alone else combiner.submit(wish, owner, wish.n)

    def _wish(
        self,
        n: int,
        worker: str | None,
        key: str | None,
        now_only: bool = False,
        kinds: frozenset[Kind] = PAGES,
        notes: bool = False,
    ) -> Wish:
        if not whole(n) or not 1 <= n <= 10_000:
            raise BadInput(f"next_urls takes 1 to 10000 pages, not {n!r:.80}.")
        session = self._session
        worker = input_checks.name("worker", worker) if worker is not None and worker != "" else session.settings.worker
        if not isinstance(now_only, bool):
            raise BadInput(f"now_only is true or false, not {now_only!r:.80}.")
        key = None if key is None else input_checks.name("key", key)
        return Wish(n, Holder(tokens.token(session.now()), worker), key, now_only, kinds, notes)

    def close(self) -> None:
        """End the threads in the background."""
        for combiner in self._combiners.values():
            combiner.close()

    def _untold(self, answer: Future[Claims]) -> None:
        """Return claims whose caller was interrupted while it waited for them."""
        if not answer.cancelled() and answer.exception() is None:
            with contextlib.suppress(GraphbrainError):
                self.give_back(answer.result())

    def _answer(self, tickets: Sequence[RoundTicket], now_only: bool = False, robots: bool = False) -> None:
        """Answer these calls. Either all of them want only pages that were asked for by hand, or none does; either all
        want robots.txt, or none does."""
        calls = Round(tickets, robots=robots)
        claim = self._claim_wanted if now_only else self._claim
        outlook: ClaimOutlook | None = None
        try:
            self._look_now_and_then(by_key=calls.keyed)
            outlook = PAUSED if self._session.paused else claim(calls)
            self._find_sitemaps(calls)
        except Exception as error:  # noqa: BLE001  # it is raised where the callers wait
            for caller in calls.callers:  # the answer includes all leased pages
                if caller.count:
                    caller.ticket.answer(Claims(caller.claims, next_ready=self._session.now(), notes=caller.notes))
                caller.ticket.fail(error)
        self._session.counters.claimed(calls.claims_by_kind)
        left = [caller for caller in (*calls.callers, *calls.answered) if not caller.ticket.done]
        if left:
            before = self._before(left)
            outlooks: dict[frozenset[Kind], ClaimOutlook] = {}
            for caller in left:
                kinds = caller.wish.kinds
                if kinds not in outlooks:
                    # What was seen for the calls together may be for kinds that this one does not want.
                    seen = outlook if outlook is PAUSED or calls.kinds == kinds else None
                    outlooks[kinds] = seen or (self._look_out_wanted() if now_only else self._look_out(kinds))
                caller.ticket.answer(_told(caller, before.get(caller.key or ""), outlooks[kinds]))
        self._session.counters.write_now_and_then()

    def _look_now_and_then(self, by_key: bool) -> None:
        """Once a second at most, look at what is to be done, take up what other processes have changed on the brain,
        and end leases and waits that are over; once a minute at most, forget expired keys, where callers claim
        `by_key`.

        The intervals are measured by the brain's clock, so that a simulated crawl sweeps as often as a real one. A
        clock that was set back counts as an interval that has passed.
        """
        now = self._session.now()
        with self._lock:
            if abs(now - self._looked_at) < LOOK_EVERY:
                return
            self._looked_at = now
            forget = by_key and abs(now - self._forgot_at) > FORGET_EVERY
            self._forgot_at = now if forget else self._forgot_at
        if forget:
            self._session.perform("asked/forget", _forget)
        self._end_overdue()

    def _before(self, callers: Sequence[Caller]) -> dict[str, list[Claim]]:
        """Return the claims that an earlier call made with the keys of callers that have none now."""
        again = {caller.key: caller for caller in callers if caller.key is not None and not caller.count}
        if not again:
            return {}
        wanted = {key for key, caller in again.items() if caller.wish.notes}
        before, notes = self._session.perform("asked/again", _asked_again, again.keys(), wanted)
        for key in wanted:
            again[key].notes.update(notes)
        return before

    def _claim(self, calls: Round) -> ClaimOutlook | None:
        """Claim the pages that the calls want. Return what to expect, where they do not get all."""
        # These kinds of claims have a fixed share, whatever the queues hold.
        n = calls.left
        aliases = self._due_aliases(n, calls)
        tries = self._due_tries(calls)
        self._due_resources(calls)

        # The queues, best pages first.
        if self._clogged:
            self._clogged = not self._clear(calls, tuning.CLEARING)
        more = self._fill(calls)
        self._aliases.took(aliases, calls.count, n)
        self._tries.took(tries, calls.new, n)

        # Places that no page has filled: aliases and resources may have them all, and some pages may only seem to be
        # held back.
        while calls.left:
            outlook = self._look_out(calls.kinds)
            if not more and self._take_beside(calls, outlook.beside):
                continue
            if not self._freed_pages(calls, outlook):
                return outlook
            more = self._fill(calls)
        return None

    def _freed_pages(self, calls: Round, outlook: ClaimOutlook) -> bool:
        """Return True if pages were freed that the outlook could not count: by a correction of times that a clock wrote
        while it was ahead, once in a round, or by the end of leases and waits that are over."""
        if not calls.clock_corrected and self._put_right(outlook):
            calls.clock_corrected = True
            return True
        return outlook.overdue and self._end_overdue() > 0

    def _end_overdue(self) -> int:
        """Look at what is to be done, end lapsed leases, and let failed pages wait in a queue again that are due;
        return how many there were."""
        work = outstanding.for_claims(self._session)
        self._beside = set(work.beside)
        return sum(self._leases.end(work))

    def _claim_wanted(self, calls: Round) -> ClaimOutlook | None:
        """Claim in the same way the pages that were asked for by hand."""
        outlook: ClaimOutlook | None = None
        for _ in range(tuning.WANTED_ROUNDS):
            step = _Step("claims/take_wanted", calls.left, most_moves=4 * calls.left, now_only=True)
            taken = self._perform(step, calls)
            calls.took(taken)
            if not calls.left:
                return None
            if taken.claims or taken.in_vain:
                continue
            outlook = self._look_out_wanted()
            if not (outlook.overdue and self._end_overdue()):
                return outlook
        return outlook or self._look_out_wanted()

    def _look_out_wanted(self) -> ClaimOutlook:
        session = self._session

        def look(tx: Tx) -> ClaimOutlook:
            return of_wanted(tx, session.policy.manners, session.now())

        return session.graph.read(look, "claims/wanted_outlook")

    def _put_right(self, outlook: ClaimOutlook) -> bool:
        """Put right the times of a clock that was ahead, where they keep all pages from being claimed. It does so for
        RIGHTING seconds and leaves the rest to upkeep. False if the clock was not ahead."""
        if outlook.is_ahead:
            self._session.put_clock_right()
        if self._session.stored.get("putting_right") is None:
            return False
        until = time.monotonic() + tuning.RIGHTING
        self._backfill.put_right(until=lambda: time.monotonic() > until)
        return True

    def _look_out(self, kinds: frozenset[Kind]) -> ClaimOutlook:
        session = self._session

        def look(tx: Tx) -> ClaimOutlook:
            return outlook_now(tx, session.finder, session.policy.manners, session.now(), kinds)

        return session.graph.read(look, "claims/outlook")

    def _fill(self, calls: Round) -> bool:
        """Claim pages until there are all, or enough, or no more to be had now. Return whether there may be more,
        though there are fewer."""
        n = calls.left
        moves_left, until, put_back = 4 * n, time.monotonic() + tuning.CLEARING, 0
        while calls.left:
            taken = self._take(_Step("claims/take", calls.left, most_moves=moves_left), calls)
            moves_left -= taken.moved
            self._learn(taken)
            if taken.put_back and put_back < tuning.MOST_PUT_BACK:
                put_back += self._put_back_more()
            if not calls.left or not (taken.claims or taken.in_vain):
                return False
            if taken.in_vain and calls.has(tuning.ENOUGH):
                return True
            if moves_left > 0:
                continue
            if calls.has(tuning.FAIR):
                return True
            if not self._clear(calls, 0.0):
                self._clogged = True
                self._from_behind(calls)
                return calls.left > 0
            if time.monotonic() > until:
                return True
            moves_left = 4 * n
        return False

    def _learn(self, taken: Taken) -> None:
        """Remember how many candidates it took to find claims, and count what they are worth."""
        self._spread.saw(taken.seen, taken.lost)
        self._reach.ready.saw(*taken.ready)
        self._reach.shared.saw(*taken.shared)
        self._session.counters.paid(taken.worths)

    def _put_back_more(self) -> int:
        """Put pages in the front of the shared queue back, if their sections have fallen. Return their number."""
        session = self._session

        def move(tx: Tx) -> int:
            acting = session.policy.acting
            return 0 if acting is None else taking.put_back_front(tx, session.finder, acting, session.now())

        return session.graph.write(move, "claims/put_back")

    def _due_aliases(self, n: int, calls: Round) -> int:
        """Claim the share of aliases among `n` claims, if any are due. Return their number."""
        places = self._aliases.places(n)
        return self._take_aliases(places, calls) if places and "alias" in self._beside else 0

    def _take_aliases(self, n: int, calls: Round) -> int:
        """Claim up to `n` aliases that are due to be looked at again. Return their number."""
        taken = self._perform(_Step("claims/take_aliases", n, taking.take_aliases), calls)
        calls.took(taken, last=True)
        self._keep_in_mind("alias", bool(taken.claims))
        return len(taken.claims)

    def _keep_in_mind(self, kind: Beside, there: bool) -> None:
        """Note whether there was one of a kind of claims: if not, no call looks for one until the next look."""
        if there:
            self._beside.add(kind)
        else:
            self._beside.discard(kind)

    def _take_beside(self, calls: Round, due: Collection[Beside]) -> bool:
        """Claim what is due beside the queues of pages for the places that are left. Return whether there was any."""
        taken = self._take_aliases(calls.left, calls) if "alias" in due else 0
        for kind in resources.LINES:
            taken += self._take_resources(kind, calls.left, calls) if kind in due else 0
        return taken > 0

    def _due_resources(self, calls: Round) -> None:
        """Claim the share of each kind that waits in queues, if any is due."""
        for kind, share in self._shares.items():
            n = sum(caller.left for caller in calls.asking(kind))
            places = share.places(n)
            if not places:
                share.took(0, n, n)
            elif kind in self._beside and (claimed := self._take_resources(kind, places, calls, beside_pages=True)):
                share.took(claimed, n, n)  # else nothing is owed: no page waits for a share that nothing took

    def _take_resources(self, kind: Kind, n: int, calls: Round, *, beside_pages: bool = False) -> int:
        """Claim up to `n` resources of a kind for the calls that ask for it. Return their number. `beside_pages`: hosts
        with pages in their queues give them a share alone."""
        n = min(n, sum(caller.left for caller in calls.asking(kind)))
        if n <= 0:
            return 0
        step = _Step("claims/take_resources", n, taking.take_resources, kind=kind, beside_pages=beside_pages)
        taken = self._perform(step, calls)
        calls.took(taken, last=True)
        self._keep_in_mind(kind, bool(taken.claims))  # type: ignore[arg-type]  # a robots.txt waits in no line
        return len(taken.claims)

    def _find_sitemaps(self, calls: Round) -> None:
        """Find the sitemaps of the hosts of claimed pages, for the calls that ask for them: of a host once a minute."""
        callers, now = calls.asking("sitemap"), self._session.now()
        schemes = {
            claim.host: claim.url.partition(":")[0]
            for caller in callers
            for claim in caller.claims
            if claim.kind == "page"
            and not 0.0 <= now - self._sought.get((claim.host, calls.robots), -math.inf) < tuning.SOUGHT
        }
        if not schemes:
            return
        hosts = self._session.perform("sitemaps/find", _find, schemes, calls.robots)
        self._keep_in_mind("sitemap", True)
        if len(self._sought) > tuning.MOST_SOUGHT:
            self._sought.clear()
        self._sought.update(dict.fromkeys(((name, calls.robots) for name in hosts), now))

    def _due_tries(self, calls: Round) -> int:
        """Claim the share of pages that try sections which are held down, if there are any. Return their number."""
        places = self._tries.places(calls.left)
        if not places or self._session.policy.acting is None or "try" not in self._beside:
            return 0
        taken = self._perform(_Step("claims/take_tries", places, tries=True), calls)
        calls.took(taken, last=True)
        self._keep_in_mind("try", bool(taken.claims or taken.in_vain))
        return len(taken.claims)

    def _clear(self, calls: Round, seconds: float) -> bool:
        """Move pages of hosts that are not ready out of the way of others, as long as many of them are in front. False
        when the time was up before."""
        until = time.monotonic() + seconds
        while True:
            taken = self._take(_Step("claims/clear", 0, most_moves=tuning.BULK, front=tuning.BULK), calls)
            if taken.moved < tuning.BULK // 4:
                return True
            if time.monotonic() >= until:
                return False

    def _from_behind(self, calls: Round) -> None:
        """Claim pages from behind those that are in the way."""
        for depth in tuning.BEYOND:
            if self._take(_Step("claims/take", calls.left, most_moves=tuning.BULK, front=depth), calls).claims:
                return

    def _take(self, step: _Step, calls: Round) -> Taken:
        """Make one claiming transaction, and give its claims to their calls."""
        taken = self._perform(step, calls)
        calls.took(taken)
        return taken

    def _perform(self, step: _Step, calls: Round) -> Taken:
        """Make one claiming transaction. If a call's key was used before, make it again without that call."""
        tried: set[str] = set()
        while True:
            holders = calls.holders(step.n, step.kind)
            if step.n and not holders:
                return Taken()
            attempt = partial(self._attempt, step=step, calls=calls, holders=holders, tried=tried)
            try:
                return self._session.graph.write(attempt, step.name)
            except idempotency.Answered as answered:
                calls.drop(answered.keys)

    def _attempt(self, tx: Tx, step: _Step, calls: Round, holders: Sequence[Holder], tried: set[str]) -> Taken:
        """Claim pages, store in the same transaction which call's key leased them, and read their notes if they are
        wanted. Raises Answered."""
        wish = self._request(step, holders, calls.robots)
        taken = taking.attempt(tx, step.work, wish, tried)
        calls.bind(tx, taken.claims)
        return replace(taken, notes=note.on_claims(tx, taken.claims)) if calls.notes else taken

    def _request(self, step: _Step, holders: Sequence[Holder], robots: bool) -> ClaimRequest:
        """Return what one attempt asks for, by the settings of now."""
        session = self._session
        return ClaimRequest(
            holders,
            clock=session.now,
            lease=session.settings.lease_seconds,
            manners=session.policy.manners,
            finder=session.finder,
            reach=self._reach,
            spread=self._spread.times,
            most_moves=step.most_moves,
            front=step.front,
            now_only=step.now_only,
            tries=step.tries,
            robots=robots,
            lines=resources.LINES.get(step.kind, ()),
            beside_pages=step.beside_pages,
            acting=session.policy.acting,
        )

    def renew(self, held: Iterable[Claim], seconds: float | None) -> list[Claim | None]:
        """Hold claims longer, as `Brain.renew` describes."""
        if seconds is not None and not (is_number(seconds) and 0 <= seconds <= LONGEST_LEASE):
            raise BadInput(f"A claim is held for 0 to {LONGEST_LEASE} seconds, not {seconds!r:.80}.")
        wanted = list(held)
        lease = self._session.settings.lease_seconds if seconds is None else seconds
        until = self._session.now() + lease

        def work(tx: Tx, leasing: Leasing, held: dict[str, str], _policy: Policy, _now: float) -> set[str]:
            return leases.renew(tx, leasing, held, until)

        kept = self._for_claims(wanted, work, "renew")
        return [replace(claim, until=until) if good else None for claim, good in zip(wanted, kept, strict=True)]

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched, as `Brain.give_back` describes."""
        return self._for_claims(list(held), leases.release, "release")

    def _for_claims(self, wanted: Sequence[Claim], work: Callable[..., set[str]], name: str) -> list[bool]:
        """Run a step of leases on claims, key → token, and return whether each was good.

        What each `Leasing` has comes in transactions of its own: hosts are the last locks of each.
        """
        good = [False] * len(wanted)
        keys = {number: claim.key for number, claim in enumerate(wanted) if input_checks.usable(claim)}
        for leasing in LEASED:
            left = {number: key for number, key in keys.items() if leasing.has(key)}
            while left:
                held: dict[str, str] = {}
                for number, key in left.items():
                    held.setdefault(key, wanted[number].token)
                kept = self._session.perform(f"{leasing.name}/{name}", partial(_with, work, leasing), held)
                # Another claim of the same page, as an older one beside that which holds it, is seen by itself.
                others = {number: key for number, key in left.items() if held[key] != wanted[number].token}
                for number, key in left.items():
                    if number not in others and key in kept:
                        good[number] = True
                left = others
        return good


def _with(
    work: Callable[..., set[str]], leasing: Leasing, tx: Tx, held: dict[str, str], policy: Policy, now: float
) -> set[str]:
    return work(tx, leasing, held, policy, now)


def _kinds(given: object) -> frozenset[Kind]:
    """Return the kinds that a caller asks for. Raise BadInput."""
    if given is None:
        return PAGES
    wanted = {given} if isinstance(given, str) or not isinstance(given, Iterable) else set(given)
    if strange := [kind for kind in wanted if kind not in KINDS]:
        raise BadInput(f"kinds are of {', '.join(map(repr, KINDS))}, not {strange[0]!r:.80}.")
    if "page" not in wanted:
        raise BadInput("kinds need 'page' among them: a robots.txt is claimed before a page of its host.")
    return frozenset(kind for kind in KINDS if kind in wanted)


def _told(caller: Caller, before: Sequence[Claim] | None, outlook: ClaimOutlook) -> Claims:
    """Return the answer to a call that has not got all it wanted. `before`: the claims that an earlier call made with
    the same key; None: the key was not used."""
    got = caller.claims if before is None else before
    if before is not None and len(before) >= caller.n:
        return Claims(before, repeated=True, notes=caller.notes)
    return Claims(
        got,
        next_ready=outlook.next_ready,
        finished=outlook.finished and not got,
        next_unfailed=outlook.next_unfailed,
        repeated=before is not None,
        next_because=outlook.because,
        paused=outlook.paused,
        notes=caller.notes,
    )


def _find(tx: Tx, schemes: Mapping[str, str], robots: bool, policy: Policy, now: float) -> set[str]:
    return sitemaps.find(tx, schemes, robots, policy.manners, now)


def _asked_again(
    tx: Tx, keys: Collection[str], noted: Collection[str], _policy: Policy, now: float
) -> tuple[dict[str, list[Claim]], dict[str, str]]:
    """Return the claims that were made with these keys, and the notes on the pages of those `noted`."""
    before = idempotency.again(tx, keys, now)
    return before, note.on_claims(tx, (claim for key in noted for claim in before.get(key, ())))


def _forget(tx: Tx, _policy: Policy, now: float) -> int:
    return idempotency.forget(tx, now)
