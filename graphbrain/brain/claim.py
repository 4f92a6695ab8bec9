"""Claims of pages, and their renewal and return before a report.

Calls that come at the same time are combined (`combine`): one transaction claims pages for all of them. Each page
carries the token and the worker of the call that gets it.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import KINDS, PAGES, Claim, Claims, Kind
from graphbrain.base.model import number as is_number
from graphbrain.base.runtime import tokens
from graphbrain.brain import outstanding
from graphbrain.brain.backfill import Backfill
from graphbrain.brain.claim_round import Caller, Round, RoundTicket, Wish
from graphbrain.brain.combine import Combiner
from graphbrain.brain.lapses import LEASED, Lapses
from graphbrain.brain.session import Session, whole
from graphbrain.brain.sitemaps import SitemapFinding
from graphbrain.content import input_checks
from graphbrain.frontier import notes
from graphbrain.frontier.claims import idempotency, leases, taking, tuning
from graphbrain.frontier.claims.batches import Holder
from graphbrain.frontier.claims.leases import Leasing
from graphbrain.frontier.claims.outlook import PAUSED, Beside, ClaimOutlook, of_wanted
from graphbrain.frontier.claims.outlook import outlook as outlook_now
from graphbrain.frontier.claims.sampling import ClaimShare, Reach, Spread
from graphbrain.frontier.claims.sources import SOURCES, ClaimRequest
from graphbrain.frontier.claims.taking import Taken
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["Claiming"]

LOOK_EVERY, FORGET_EVERY = 1.0, 60.0
"""Seconds between two reads of the outstanding work, and between two deletions of expired idempotency keys."""
LONGEST_LEASE = 604_800
"""The longest lease in seconds; the setting `lease_seconds` has the same bound."""
MOST = 10_000
"""The most claims of one call."""


class Claiming:
    """Claims pages. Thread-safe: a race on its estimates of the queues makes them less exact, and no claim wrong."""

    def __init__(self, session: Session, lapses: Lapses, backfill: Backfill, sitemaps: SitemapFinding) -> None:
        self._session, self._lapses, self._backfill, self._sitemaps = session, lapses, backfill, sitemaps
        self._spread = Spread()
        self._reach = Reach()
        self._clogged = False
        """True if many pages of hosts that are not ready are before other pages in the queue."""
        self._shares: Mapping[Beside, ClaimShare] = {
            "aliases": ClaimShare(lambda: tuning.ALIAS_SHARE, random.random()),
            "tries": ClaimShare(lambda: session.settings.harvest_reserve, tuning.TRIES_LUCK),
            "sitemap": ClaimShare(lambda: tuning.RESOURCE_SHARE, random.random()),
            "link": ClaimShare(lambda: tuning.RESOURCE_SHARE, random.random()),
        }
        """The share of the claims that each source beside the queues of pages gets."""
        self._lock = threading.Lock()
        self._looked_at, self._forgot_at = -math.inf, session.now()
        self._beside: set[Beside] = set()
        """The sources beside the queues of pages that seem to have candidates: those of the last read of the
        outstanding work, without those in which a call has found nothing since."""
        self._combiner: Combiner[Wish, Claims] = Combiner(
            self._answer, "claims", most=tuning.COMBINED, alone=tuning.ALONE, group=_group, undo=self._untold
        )

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
            claimed = self._combiner.do(wish, wish.holder.worker, wish.n)
            remaining = deadline - time.monotonic()
            if len(claimed) or claimed.repeated or claimed.finished or remaining <= 0:
                return claimed
            self._wait_for(claimed.next_ready, remaining)
            wish = self._wish(n, worker, key, now_only, wanted, notes)

    def _wait_for(self, next_ready: float | None, most: float) -> None:
        """Sleep until a page may be ready, at most a second and at most `most` seconds. `next_ready`: epoch seconds;
        None if not known."""
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
        """Return the future of claims. Owners take turns. Return None for a number of pages so large that the caller
        must call `next_urls` in a thread."""
        wish = self._wish(n, worker, key, now_only, _kinds(kinds))
        return None if wish.n >= tuning.ALONE else self._combiner.submit(wish, owner, wish.n)

    def _wish(
        self,
        n: int,
        worker: str | None,
        key: str | None,
        now_only: bool = False,
        kinds: frozenset[Kind] = PAGES,
        notes: bool = False,
    ) -> Wish:
        if not whole(n) or not 1 <= n <= MOST:
            raise BadInput(f"next_urls takes 1 to 10000 pages, not {n!r:.80}.")
        session = self._session
        worker = input_checks.name("worker", worker) if worker is not None and worker != "" else session.settings.worker
        if not isinstance(now_only, bool):
            raise BadInput(f"now_only is true or false, not {now_only!r:.80}.")
        key = None if key is None else input_checks.name("key", key)
        return Wish(n, Holder(tokens.token(session.now()), worker, kinds), key, now_only, notes)

    def close(self) -> None:
        """End the thread in the background."""
        self._combiner.close()

    def _untold(self, answer: Future[Claims]) -> None:
        """Give back claims whose caller was interrupted while it waited for them."""
        if not answer.cancelled() and answer.exception() is None:
            with contextlib.suppress(GraphbrainError):
                self.give_back(answer.result())

    def _answer(self, tickets: Sequence[RoundTicket]) -> None:
        """Answer the calls of one round. All of them have one group (`_group`)."""
        # Claim pages; a call with all its claims is answered at once.
        now_only, robots = _group(tickets[0].request)
        calls = Round(tickets, robots=robots)
        claim = self._claim_wanted if now_only else self._claim
        outlook: ClaimOutlook | None = None
        try:
            self._look_now_and_then(by_key=calls.keyed)
            outlook = PAUSED if self._session.paused else claim(calls)
            claims = calls.claims_for("sitemap")
            if claims is not None and self._sitemaps.of_claims(claims, calls.robots):
                self._beside.add("sitemap")
        # After an error, pages that are leased already must reach their callers; the other callers get the error.
        except Exception as error:  # noqa: BLE001  # it is raised where the callers wait
            for caller in calls.callers:
                if caller.count:
                    caller.ticket.answer(Claims(caller.claims, next_ready=self._session.now(), notes=caller.notes))
                caller.ticket.fail(error)
        self._session.counters.claimed(claim.kind for caller in calls.callers for claim in caller.claims)
        # Answer the other calls with the outlook for their kinds.
        unanswered = [caller for caller in (*calls.callers, *calls.answered) if not caller.ticket.future.done()]
        if unanswered:
            earlier_claims = self._before(unanswered)
            outlooks: dict[frozenset[Kind], ClaimOutlook] = {}
            for caller in unanswered:
                kinds = caller.wish.holder.kinds
                if kinds not in outlooks:
                    # The outlook of the round is valid for a call only if both have the same kinds.
                    shared = outlook if outlook is PAUSED or calls.kinds == kinds else None
                    outlooks[kinds] = shared or (self._look_out_wanted() if now_only else self._look_out(kinds))
                caller.ticket.answer(_final_answer(caller, earlier_claims.get(caller.key or ""), outlooks[kinds]))
        self._session.counters.write_now_and_then()

    def _look_now_and_then(self, by_key: bool) -> None:
        """At most once a second, read the outstanding work and the changes of other processes on the brain, and end
        lapsed leases and the waits of failed pages. At most once a minute, delete expired idempotency keys, if callers
        use keys (`by_key`).

        The intervals are measured by the brain's clock, so that a simulated crawl sweeps as often as a real one. A
        clock that was set back counts as an interval that has passed.
        """
        now = self._session.now()
        with self._lock:
            if abs(now - self._looked_at) < LOOK_EVERY:
                return
            self._looked_at = now
            forgets = by_key and abs(now - self._forgot_at) > FORGET_EVERY
            self._forgot_at = now if forgets else self._forgot_at
        if forgets:
            self._session.perform("asked/forget", _forget)
        self._end_overdue()

    def _before(self, callers: Sequence[Caller]) -> dict[str, list[Claim]]:
        """Return the claims that earlier calls made with the keys of these callers, for callers without claims."""
        caller_of = {caller.key: caller for caller in callers if caller.key is not None and not caller.count}
        if not caller_of:
            return {}
        noted = {key for key, caller in caller_of.items() if caller.wish.notes}
        earlier_claims, notes = self._session.perform("asked/again", _asked_again, caller_of.keys(), noted)
        for key in noted:
            caller_of[key].notes.update(notes)
        return earlier_claims

    def _claim(self, calls: Round) -> ClaimOutlook | None:
        """Claim the pages that the calls want. Return the outlook if they do not get all."""
        # Claim from the queues of pages, and give other sources their shares.
        if self._clogged:
            self._clogged = not self._clear(calls, tuning.CLEARING)
        wanted = {source: calls.wanting(SOURCES[source].kind) for source in self._shares if source in self._beside}
        may_have_more = self._fill(calls, self._due_shares(wanted, calls.missing) if wanted else {})
        for source, n in wanted.items():
            self._shares[source].took(calls.by_source[source], n)

        # Fill the places that are left from other sources, and with pages whose waits are found to be over.
        while calls.missing:
            outlook = self._look_out(calls.kinds)
            tries_others = not may_have_more and outlook.beside
            if tries_others and self._take(calls, dict.fromkeys(outlook.beside, calls.missing)).beside:
                continue
            if not self._freed_pages(calls, outlook):
                return outlook
            may_have_more = self._fill(calls)
        return None

    def _due_shares(self, wanted: Mapping[Beside, int], n: int) -> dict[str, int]:
        """Return the places of each source, of `n` places in all. `wanted`: for each source, the number of claims that
        the calls want of its kind."""
        places_of: dict[str, int] = {}
        for source, claims in wanted.items():
            if places := min(self._shares[source].places(claims), n - sum(places_of.values())):
                places_of[source] = places
        return places_of

    def _freed_pages(self, calls: Round, outlook: ClaimOutlook) -> bool:
        """Free pages that the outlook does not count: correct the times of a clock that was ahead, once in a round, or
        end lapsed leases and waits. Return True if there may be such pages."""
        if not calls.clock_corrected and self._put_right(outlook):
            calls.clock_corrected = True
            return True
        return outlook.overdue and self._end_overdue() > 0

    def _end_overdue(self) -> int:
        """Read the outstanding work, end lapsed leases, and let failed pages that are due wait in a queue again. Return
        the number of these leases and pages."""
        work = outstanding.for_claims(self._session)
        self._beside = set(work.beside)
        return sum(self._lapses.end(work))

    def _claim_wanted(self, calls: Round) -> ClaimOutlook | None:
        """Claim pages that `crawl_now` has named. Return the outlook if the calls do not get all that they want."""
        outlook: ClaimOutlook | None = None
        for _ in range(tuning.WANTED_ROUNDS):
            result = self._take(calls, {"asked": calls.missing}, most_moves=4 * calls.missing)
            if not calls.missing:
                return None
            if result.claims or result.in_vain:
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
        """Correct times that a clock wrote while it was ahead, for RIGHTING seconds; upkeep corrects the rest. Return
        False if no times have to be corrected."""
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

    def _fill(self, calls: Round, shares: Mapping[str, int] | None = None) -> bool:
        """Claim pages until the calls have all or enough claims, or no more pages are ready. Return True if there may
        be more pages though claims are missing. `shares`: the places of other sources in the first transaction."""
        n = calls.missing
        moves, until, pages_put_back = 4 * n, time.monotonic() + tuning.CLEARING, 0
        while calls.missing:
            # Claim in one transaction, and learn from its result. The queues of pages get the places that are left.
            places = {**(shares or {})}
            if rest := calls.missing - sum(places.values()):
                places["lanes"] = rest
            shares = None
            result = self._take(calls, places, most_moves=moves)
            moves -= result.moved
            if "lanes" in places:
                self._learn(result)
            # Places that another source did not fill may still be filled from the queues.
            if len(places) > 1 or "lanes" not in places:
                continue
            if result.put_back and pages_put_back < tuning.MOST_PUT_BACK:
                pages_put_back += self._put_back_more()
            # Stop when all claims are made, no page is ready, or other callers got most of the pages.
            if not calls.missing or not (result.claims or result.in_vain):
                return False
            if result.in_vain and calls.has(tuning.ENOUGH):
                return True
            if moves > 0:
                continue
            # Too many pages of hosts that are not ready are before the others: move them, or claim from behind them.
            if calls.has(tuning.FAIR):
                return True
            if not self._clear(calls, 0.0):
                self._clogged = True
                self._from_behind(calls)
                return calls.missing > 0
            if time.monotonic() > until:
                return True
            moves = 4 * n
        return False

    def _learn(self, result: Taken) -> None:
        """Update the estimates of how many candidates a claim takes, and the price of visits."""
        self._spread.saw(result.seen, result.lost)
        self._reach.ready.saw(*result.ready)
        self._reach.shared.saw(*result.shared)
        self._session.counters.paid(result.worths)

    def _put_back_more(self) -> int:
        """Put back pages at the front of the shared queue whose sections have fallen. Return their number."""
        session = self._session

        def move(tx: Tx) -> int:
            acting = session.policy.acting
            return 0 if acting is None else taking.put_back_front(tx, session.finder, acting, session.now())

        return session.graph.write(move, "claims/put_back")

    def _clear(self, calls: Round, seconds: float) -> bool:
        """Move pages of hosts that are not ready out of the shared queue, while many of them are at its front. Return
        False if the time was over before."""
        until = time.monotonic() + seconds
        while True:
            result = self._take(calls, {"front": 0}, most_moves=tuning.BULK, depth=tuning.BULK)
            if result.moved < tuning.BULK // 4:
                return True
            if time.monotonic() >= until:
                return False

    def _from_behind(self, calls: Round) -> None:
        """Claim pages from deeper in the queue, behind the pages of hosts that are not ready."""
        for depth in tuning.BEYOND:
            if self._take(calls, {"front": calls.missing}, most_moves=tuning.BULK, depth=depth).claims:
                return

    def _take(self, calls: Round, places: Mapping[str, int], *, most_moves: int = 0, depth: int = 0) -> Taken:
        """Make one claiming transaction, and give its claims to their calls. If a call's key was used before, repeat
        the transaction without that call. For `places`, `most_moves` and `depth` see `ClaimRequest`."""
        tried: set[str] = set()

        def attempt(tx: Tx) -> Taken:
            wish = self._request(calls, places, most_moves, depth)
            result = taking.take(tx, wish, tried)
            if calls.keyed:
                calls.bind(tx, [*result.claims, *result.beside])
            return result

        while calls.missing:
            try:
                result = self._session.graph.write(attempt, "claims/take")
            except idempotency.Answered as answered:
                calls.drop(answered.keys)
                continue
            calls.took(result)
            # Skip a source that had nothing until the next read of the outstanding work.
            self._beside.difference_update(source for source in places if not result.by_source[source])
            return result
        return Taken()

    def _request(self, calls: Round, places: Mapping[str, int], most_moves: int, depth: int) -> ClaimRequest:
        """Return the request of one attempt, by the present settings."""
        session = self._session
        return ClaimRequest(
            places,
            calls.holders() if any(places.values()) else (),
            clock=session.now,
            lease=session.settings.lease_seconds,
            manners=session.policy.manners,
            finder=session.finder,
            reach=self._reach,
            spread=self._spread.times,
            most_moves=most_moves,
            depth=depth,
            robots=calls.robots,
            notes=calls.notes,
            acting=session.policy.acting,
        )

    def renew(self, claims: Iterable[Claim], seconds: float | None) -> list[Claim | None]:
        """Hold claims longer, as `Brain.renew` describes."""
        if seconds is not None and not (is_number(seconds) and 0 <= seconds <= LONGEST_LEASE):
            raise BadInput(f"A claim is held for 0 to {LONGEST_LEASE} seconds, not {seconds!r:.80}.")
        wanted = list(claims)
        lease = self._session.settings.lease_seconds if seconds is None else seconds
        until = self._session.now() + lease

        def work(tx: Tx, leasing: Leasing, token_of: dict[str, str], _policy: Policy, _now: float) -> set[str]:
            return leases.renew(tx, leasing, token_of, until)

        kept = self._for_claims(wanted, work, "renew")
        return [replace(claim, until=until) if good else None for claim, good in zip(wanted, kept, strict=True)]

    def give_back(self, claims: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched, as `Brain.give_back` describes."""
        return self._for_claims(list(claims), leases.release, "release")

    def _for_claims(self, wanted: Sequence[Claim], work: Callable[..., set[str]], name: str) -> list[bool]:
        """Run a step of leases on claims (key → token), and return for each claim whether it was valid.

        Pages and resources have separate transactions, since each transaction locks its hosts last.
        """
        is_valid = [False] * len(wanted)
        keys = {number: claim.key for number, claim in enumerate(wanted) if input_checks.usable(claim)}
        for leasing in LEASED:
            remaining = {number: key for number, key in keys.items() if leasing.has(key)}
            while remaining:
                # A transaction takes one token for each key.
                token_of: dict[str, str] = {}
                for number, key in remaining.items():
                    token_of.setdefault(key, wanted[number].token)
                valid_keys = self._session.perform(f"{leasing.name}/{name}", partial(_with, work, leasing), token_of)
                # Claims of the same page with another token come in the next transaction.
                others = {number: key for number, key in remaining.items() if token_of[key] != wanted[number].token}
                for number, key in remaining.items():
                    if number not in others and key in valid_keys:
                        is_valid[number] = True
                remaining = others
        return is_valid


def _with(
    work: Callable[..., set[str]], leasing: Leasing, tx: Tx, token_of: dict[str, str], policy: Policy, now: float
) -> set[str]:
    return work(tx, leasing, token_of, policy, now)


def _group(wish: Wish) -> tuple[bool, bool]:
    """Return the group of a call: (only pages that `crawl_now` has named, robots.txt, too). Both change which pages are
    claimed, so all calls of a round agree in them."""
    return wish.now_only, "robots" in wish.holder.kinds


def _kinds(given: object) -> frozenset[Kind]:
    """Return the kinds that a caller asks for. Raise BadInput for an unknown kind, or without `page`."""
    if given is None:
        return PAGES
    wanted = {given} if isinstance(given, str) or not isinstance(given, Iterable) else set(given)
    if strange := [kind for kind in wanted if kind not in KINDS]:
        raise BadInput(f"kinds are of {', '.join(map(repr, KINDS))}, not {strange[0]!r:.80}.")
    if "page" not in wanted:
        raise BadInput("kinds need 'page' among them: a robots.txt is claimed before a page of its host.")
    return frozenset(kind for kind in KINDS if kind in wanted)


def _final_answer(caller: Caller, before: Sequence[Claim] | None, outlook: ClaimOutlook) -> Claims:
    """Return the answer to a call that has fewer claims than it wants. `before`: the claims that an earlier call made
    with the same key; None if the key was not used before."""
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


def _asked_again(
    tx: Tx, keys: Collection[str], noted: Collection[str], _policy: Policy, now: float
) -> tuple[dict[str, list[Claim]], dict[str, str]]:
    """Return the claims that were made with these idempotency keys, and the notes on the pages of the keys in
    `noted`."""
    claims_of = idempotency.again(tx, keys, now)
    return claims_of, notes.on_claims(tx, (claim for key in noted for claim in claims_of.get(key, ())))


def _forget(tx: Tx, _policy: Policy, now: float) -> int:
    return idempotency.forget(tx, now)
