"""The whole: a crawler's verbs over the nouns. Only this module knows how they meet.

Each call is one transaction, or a row of them, each safe to run again; every call may be made from any thread and any
process. What follows from a report, the spreading of cash, is done by `tend`: by `graphbrain work` processes where
there are any, and otherwise by the brain itself, a little after each report, so that a single script need not care.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain import audit as audits
from graphbrain import cash, claims, corrections, hosts, pages, report, schema
from graphbrain.audit import Audit
from graphbrain.errors import BadInput, GraphbrainError, SettingsError, UnknownPage
from graphbrain.graph import Clock, Graph, Tx
from graphbrain.hosts import LONGEST_BLOCK, Manners
from graphbrain.intake import Intake
from graphbrain.model import Answer, Claim, Claims, Failed, Fetched, Page, SeedAnswer, Tended
from graphbrain.opichits import Rule
from graphbrain.report import Item, Policy
from graphbrain.scope import Scope
from graphbrain.settings import Settings, typed
from graphbrain.spread import Spread
from graphbrain.url import RULES_VERSION, Rules

__all__ = ["Brain"]

BATCH_PAGES, BATCH_LINKS = 200, 10_000
"""A report is split into transactions of at most so many pages and links."""
PUSH_PAYMENTS = 5_000
"""Payments of a push batch: claims wait for locks on the pages they want, so batches are short."""
SWEEP_EVERY = 1.0
COUNT_EVERY = 5.0
OWN_TEND_SHARE = 0.5
"""A brain used alone spends at most this share of a report's time on tending after it."""
PASS_BATCH = 1_000


class Brain:
    """One crawl's brain. Open it with `Brain.open`; close it, or use it as a context manager."""

    def __init__(self, graph: Graph, settings: Settings, revision: int, clock: Clock) -> None:
        self.graph = graph
        self.settings = settings
        self._clock = clock
        self._rules = Rules(settings.canonical)
        self._refresh(settings, revision)
        graph.on_outdated = self._reread
        self._spread = {"claims": Spread(), "cash": Spread()}
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._counted_at = self._swept_at = time.monotonic()
        self._tended_by_others = (0.0, False)
        self._owed = 0.0

    # ---------------------------------------------------------------- opening

    @classmethod
    def open(
        cls,
        *,
        create: bool = True,
        canonical: Callable[[str], str] | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> Brain:
        """Open the brain of a database; make one when the database is empty (and `create` is true).

        `settings`: fields of `Settings`, over `GRAPHBRAIN_…` variables. A shared setting given here that differs from
        the brain's changes it for all; a fixed one raises SettingsError. `canonical`: the user's own last step of
        canonical URLs. `clock`: epoch seconds, for tests only. Raises GraphUnavailable, GraphRefused, SchemaMismatch.
        """
        given = Settings.read(canonical=canonical, **settings)
        graph = Graph(*_address(given), given.database, given.limit_seconds)
        try:
            graph.connect()
            now = clock or graph.now
            stored = _stored(graph, given, create, now)
            brain = cls(graph, _fit(given, stored), stored["revision"], now)
            brain._adopt(given)
        except BaseException:
            graph.close()
            raise
        return brain

    def __enter__(self) -> Brain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the counters and let the connection go. Claims stay held until they lapse: give them back first."""
        with contextlib.suppress(GraphbrainError):
            self._write_counts()
        self.graph.close()

    def _refresh(self, settings: Settings, revision: int) -> None:
        self.settings = settings
        rule = Rule(
            settings.alpha,
            settings.eps,
            settings.intra_host_weight,
            settings.max_payees,
            settings.order,
            revision,
        )
        self.policy = Policy(
            rule,
            Scope.of(settings),
            Manners(settings.delay_seconds, settings.in_flight),
            settings.max_errors,
        )

    def _adopt(self, given: Settings) -> None:
        """Shared settings that were given to `open` and differ from the brain's become the brain's."""
        changes = {
            name: getattr(given, name)
            for name in Settings.names("shared")
            if name in given.given and getattr(given, name) != getattr(self.settings, name)
        }
        if changes:
            self.change(**changes)

    def change(self, **settings: Any) -> None:
        """Change shared settings of the brain, for all who use it.

        Other open brains take them up with their next report or push, or within a second of claiming. What follows
        from `eps`, `max_payees`, `order` or the scope is recomputed for every page, in batches, beside whatever else
        runs. Raises SettingsError.
        """
        wrong = sorted(set(settings) - set(Settings.names("shared")))
        if wrong:
            raise SettingsError(f"{wrong[0]} cannot be changed on a brain that exists.")
        settings = {name: typed(name, value) for name, value in settings.items()}
        changed = replace(self.settings, **settings).checked()
        Scope.of(changed)
        self.graph.write(lambda tx: tx.do("brain/change", settings=settings), "brain/change")
        self._reread()
        if {"eps", "order", "max_payees"} & set(settings):
            self._pass(corrections.remark)
        if {"allow_hosts", "deny_hosts", "allow_urls", "deny_urls", "max_depth"} & set(settings):
            self._pass(corrections.rescope)

    def _pass(self, step: Callable[[Tx, Sequence[int], Policy, float], None]) -> None:
        """Run a step over all pages, in batches."""
        after = ""
        while True:
            ids, last = self.graph.read(
                lambda tx, a=after: tx.one("pages/ids_from", after=a, limit=PASS_BATCH),  # type: ignore[misc]
                "pages/ids_from",
            )
            if not ids:
                return
            self.graph.write(
                lambda tx, i=ids: step(tx, i, self.policy, self.now()),  # type: ignore[misc]
                step.__name__,
            )
            after = last

    def now(self) -> float:
        """Epoch seconds by the server's clock."""
        return self._clock()

    # ---------------------------------------------------------------- in

    def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages of these URLs, where the crawl begins; known pages become seeds. Bad URLs are refused by item."""
        good: dict[str, str] = {}
        refused: list[tuple[str, str]] = []
        for url in urls:
            try:
                canonical, key = self._rules.page(url)
                good[key] = canonical
            except (BadInput, TypeError) as error:
                refused.append((str(url)[:200], str(error)))
        created = 0
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: good[key] for key in keys[start : start + PASS_BATCH]}
            created += self.graph.write(
                lambda tx, b=batch: corrections.seed(tx, b, self.policy, self.now()),  # type: ignore[misc]
                "pages/seed",
            )
        return SeedAnswer(created, len(keys) - created, tuple(refused))

    def report(self, items: Sequence[Fetched | Failed]) -> list[Answer]:
        """Record visits; one answer for each, in their order. Of each page all is recorded, or nothing."""
        started = time.monotonic()
        intake = Intake(self._rules, self.settings.max_links, self.now())
        answers: list[Answer | None] = [None] * len(items)
        checked: list[tuple[int, Item]] = []
        for number, item in enumerate(items):
            made = intake.check(item)
            if isinstance(made, Answer):
                answers[number] = made
            else:
                checked.append((number, made))
        for batch in _batches(checked):
            part = [item for _, item in batch]
            done = self.graph.write(
                lambda tx, p=part: report.record(tx, p, self.policy, self.now()),  # type: ignore[misc]
                "report",
            )
            for (number, _), answer in zip(batch, done, strict=True):
                answers[number] = answer
                self._counts["pages"] += answer.accepted
                self._counts["links"] += answer.links
        self._after_report(time.monotonic() - started)
        return [answer for answer in answers if answer is not None]

    # ---------------------------------------------------------------- claims

    def next_urls(self, n: int = 100, *, worker: str | None = None, wait: float = 0.0) -> Claims:
        """Claim up to `n` pages, best first; wait up to `wait` seconds for the first of them.

        When there are fewer than asked, the answer says when the next will be ready and whether the crawl is finished.
        """
        if not _whole(n) or not 1 <= n <= 10_000:
            raise BadInput(f"next_urls takes 1 to 10000 pages, not {n!r}.")
        deadline = time.monotonic() + wait
        while True:
            claimed = self._claim(n, worker or self.settings.worker)
            left = deadline - time.monotonic()
            if len(claimed) or claimed.finished or left <= 0:
                self._counts["claims"] += len(claimed)
                self._count_now_and_then()
                return claimed
            ready_in = (claimed.next_ready or self.now() + 1.0) - self.now()
            time.sleep(min(left, max(0.01, min(ready_in, 1.0))))

    def _claim(self, n: int, worker: str) -> Claims:
        self._sweep_now_and_then()
        token = uuid.uuid4().hex
        got: list[Claim] = []
        moves_left = 4 * n
        spread = self._spread["claims"]
        while len(got) < n and moves_left > 0:
            taken = self.graph.write(self._take(n - len(got), token, worker, moves_left), "claims/take")
            got += taken.claims
            moves_left -= taken.moved
            spread.saw(taken.seen, taken.lost)
            if not taken.claims and not taken.moved and not taken.lost:
                break
        if len(got) == n:
            return Claims(got)
        if moves_left <= 0:
            return Claims(got, next_ready=self.now())
        outlook = self.graph.read(lambda tx: claims.outlook(tx, self.now()), "claims/outlook")
        return Claims(got, next_ready=outlook.next_ready, finished=outlook.finished and not got)

    def _take(self, n: int, token: str, worker: str, most_moves: int) -> Callable[[Tx], claims.Taken]:
        """One claiming transaction. From its second attempt on it first looks for what the lost one has taken."""
        tried: set[str] = set()

        def work(tx: Tx) -> claims.Taken:
            if tried and (found := claims.mine(tx, token, tried)):
                return claims.Taken(found, 0, 0, len(found))
            now = self.now()
            return claims.take(
                tx,
                n,
                token=token,
                worker=worker,
                now=now,
                until=now + self.settings.lease_seconds,
                manners=self.policy.manners,
                spread=self._spread["claims"].times,
                most_moves=most_moves,
                tried=tried,
            )

        return work

    def renew(self, held: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims for `seconds` from now (the lease's length by default); None for each that is lost."""
        wanted = list(held)
        until = self.now() + (self.settings.lease_seconds if seconds is None else seconds)
        tokens = {claim.key: claim.token for claim in wanted}

        def work(tx: Tx) -> set[str]:
            return claims.renew(tx, tokens, pages.find(tx, tokens), until)

        kept = self.graph.write(work, "claims/renew") if wanted else set()
        return [replace(claim, until=until) if claim.key in kept else None for claim in wanted]

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched: their pages wait again where they were. False for each that was lost before."""
        wanted = list(held)
        tokens = {claim.key: claim.token for claim in wanted}

        def work(tx: Tx) -> set[str]:
            return claims.release(tx, tokens, pages.find(tx, tokens), self.policy.manners, self.now())

        back = self.graph.write(work, "claims/release") if wanted else set()
        return [claim.key in back for claim in wanted]

    # ---------------------------------------------------------------- upkeep

    def tend(
        self,
        seconds: float | None = 1.0,
        *,
        pages: Iterable[str] | None = None,
        batch: int = PUSH_PAYMENTS,
        for_everybody: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Tended:
        """Upkeep for at most `seconds` (None: until settled): lapsed leases, retries, depths, and pushes of cash.

        `pages`: push both sides of these (URLs or keys) instead of the most urgent. `batch`: payments of one
        transaction; short ones let claims through. `for_everybody`: tell the other users of this brain that it is
        tended, as `graphbrain work` does. `stop` is asked between transactions.
        """
        started = time.monotonic()
        self._reread()
        if for_everybody:
            self._count_now_and_then(tending=True)
        done = Tended(swept=self._sweep(), released=self._release_due())
        self._pass_depths_on()
        if pages is not None:
            return done + self._push_named([self._key(page) for page in pages], started)
        settled = False
        while not settled and not stop():
            if seconds is not None and time.monotonic() - started > seconds:
                break
            pushed, settled = self._push(batch)
            done += Tended(pushed.pushes, pushed.payments)
            self._count_now_and_then(tending=for_everybody)
        return replace(done, seconds=time.monotonic() - started, settled=settled)

    def _push(self, batch: int) -> tuple[cash.Pushed, bool]:
        """One batch of pushes; and whether there was nothing left to push."""
        spread = self._spread["cash"]
        side, ids = self.graph.read(lambda tx: cash.candidates(tx, batch, spread.times), "cash/candidates")
        if not ids:
            return cash.Pushed(), True
        pushed = self.graph.write(
            lambda tx: cash.push(tx, side, ids, self.policy.rule, self.now()), f"cash/push {side}"
        )
        spread.saw(len(ids), pushed.lost)
        self._counts["pushes"] += pushed.pushes
        self._counts["payments"] += pushed.payments
        return pushed, False

    def _push_named(self, keys: Sequence[str], started: float) -> Tended:
        pushes = payments = 0
        for side in ("hub", "authority"):
            pushed = self.graph.write(
                lambda tx, s=side: cash.push(  # type: ignore[misc]
                    tx, s, list(pages.find(tx, keys).values()), self.policy.rule, self.now()
                ),
                f"cash/push {side}",
            )
            pushes += pushed.pushes
            payments += pushed.payments
        return Tended(pushes, payments, seconds=time.monotonic() - started)

    def _sweep(self) -> int:
        """End lapsed leases."""
        return self._in_batches(claims.lapsed, claims.sweep, "claims/sweep")

    def _release_due(self) -> int:
        """Let failed pages wait again when their time has come."""
        return self._in_batches(claims.due, claims.retry, "claims/retry")

    def _in_batches(
        self,
        look: Callable[[Tx, float, int], list[int]],
        act: Callable[[Tx, Sequence[int], Manners, float], int],
        name: str,
    ) -> int:
        total = 0
        while ids := self.graph.read(lambda tx: look(tx, self.now(), PASS_BATCH), name):
            done = self.graph.write(
                lambda tx, i=ids: act(tx, i, self.policy.manners, self.now()),  # type: ignore[misc]
                name,
            )
            total += done
            if not done or len(ids) < PASS_BATCH:
                break
        return total

    def _pass_depths_on(self) -> None:
        """Tell the pages behind those that became less deep, one step of the way at a time."""
        while ids := self.graph.read(lambda tx: tx.one("pages/deepened", limit=100)[0], "pages/deepened"):
            self.graph.write(
                lambda tx, i=ids: corrections.deepen(tx, i, self.policy, self.now()),  # type: ignore[misc]
                "pages/deepen",
            )

    def _sweep_now_and_then(self) -> None:
        with self._lock:
            if time.monotonic() - self._swept_at < SWEEP_EVERY:
                return
            self._swept_at = time.monotonic()
        self._sweep()
        self._release_due()
        self._reread()

    def _reread(self) -> None:
        """Take up what others have changed on the brain."""
        stored = self.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
        if stored is not None:
            names = Settings.names("shared", "fixed")
            fresh = replace(self.settings, **{name: stored[name] for name in names if name in stored})
            if fresh != self.settings or stored["revision"] != self.policy.rule.revision:
                self._refresh(fresh, stored["revision"])

    def _after_report(self, spent: float) -> None:
        """Tend in proportion to the work that reports make, unless a worker does it for everybody."""
        self._count_now_and_then()
        if not self.settings.auto_tend:
            return
        now = time.monotonic()
        looked_at, tended = self._tended_by_others
        if now - looked_at > COUNT_EVERY or not looked_at:
            tended = self.graph.read(
                lambda tx: tx.one("brain/tended_by", hour=int(self.now() // 3600), now=self.now())[0],
                "brain/tended_by",
            )
            self._tended_by_others = (now, tended)
        if tended:
            return
        self._owed = min(self._owed + spent * OWN_TEND_SHARE, 5.0)
        if self._owed >= 0.05:
            budget, self._owed = self._owed, 0.0
            self.tend(budget)

    # ---------------------------------------------------------------- counters

    def _count_now_and_then(self, tending: bool = False) -> None:
        with self._lock:
            if time.monotonic() - self._counted_at < COUNT_EVERY:
                return
            self._counted_at = time.monotonic()
        self._write_counts(tending)

    def _write_counts(self, tending: bool = False) -> None:
        with self._lock:
            names = ("pages", "links", "claims", "pushes", "payments")
            counts = [self._counts.pop(name, 0) for name in names]
            retries = self.graph.counts["retries"] - self._counts["retries counted"]
            self._counts["retries counted"] += retries
        if not tending and not any(counts) and not retries:
            return
        now = self.now()
        self.graph.write(
            lambda tx: tx.do(
                "brain/count",
                hour=int(now // 3600),
                worker=self.settings.worker,
                now=now,
                tending=tending,
                counts=[*counts, retries],
            ),
            "brain/count",
        )

    # ---------------------------------------------------------------- looking

    def page(self, url: str) -> Page:
        """Everything about one page, named by URL or key. Raises UnknownPage."""
        found = self.graph.read(lambda tx: pages.page(tx, self._key(url)), "pages/get")
        if found is None:
            raise UnknownPage(f"{url} is not in the graph.")
        return found

    def top(self, n: int = 10, by: str = "authority") -> list[Page]:
        """The `n` pages of highest authority (or hub) score, best first."""
        names = {"authority": "authorities", "hub": "hubs"}
        if by not in names:
            raise BadInput(f"top is by authority or hub, not {by!r}.")
        name = f"pages/top_{names[by]}"
        rows = self.graph.read(lambda tx: tx.many(name, limit=n), name)
        if len(rows) < n:
            name = f"pages/all_{names[by]}"
            rows = self.graph.read(lambda tx: tx.many(name, limit=n), name)
        return [pages.page_of(row) for row in rows]

    def neighbours(self, url: str) -> tuple[list[str], list[str]]:
        """The URLs a page links to, and those that link to it. Raises UnknownPage."""
        rows = self.graph.read(lambda tx: tx.many("pages/neighbours", key=self._key(url)), "pages/neighbours")
        if not rows:
            raise UnknownPage(f"{url} is not in the graph.")
        return sorted(rows[0][0]), sorted(rows[0][1])

    def stats(self) -> dict[str, Any]:
        """How much there is, in which state, and what was done. Reads every page: for people, not for loops."""
        self._write_counts()
        sizes = self.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
        states = self.graph.read(lambda tx: tx.many("brain/states"), "brain/states")
        totals = self.graph.read(lambda tx: tx.one("brain/totals"), "brain/totals")
        waiting = self.graph.read(lambda tx: audits.waiting(tx, self.policy.rule), "audit/waiting")
        return {
            "crawl": self.settings.crawl,
            **dict(zip(("pages", "links", "hosts"), sizes, strict=True)),
            "waiting": sum(row[2] for row in states),
            "leased": sum(row[3] for row in states),
            "retries": sum(row[4] for row in states),
            "states": {row[0]: row[1] for row in states},
            "error_bound": waiting,
            "done": dict(zip(("pages", "links", "claims", "pushes", "payments", "retries"), totals, strict=True)),
            "client": dict(self.graph.counts),
        }

    def audit(self, sample: int | None = 1000, progress: Callable[[int, int], None] = lambda *_: None) -> Audit:
        """Recompute accounts from their neighbours and check leases, queues and marks; `sample` None: every page."""
        return audits.run(self.graph, lambda: self.policy, sample, progress, self.now)

    # ---------------------------------------------------------------- corrections

    def link(self, source: str, target: str) -> None:
        """Say that one page links to another; both are created if they are not known. A link that is there stays."""
        (a, ka), (b, kb) = self._page(source), self._page(target)
        if ka == kb:
            raise BadInput("A link from a page to itself is ignored everywhere.")
        self._correct(lambda tx, now: corrections.link(tx, (ka, a), (kb, b), self.policy, now), "link")

    def unlink(self, source: str, target: str) -> None:
        """Remove a link; nothing happens when it is not there."""
        a, b = self._key(source), self._key(target)
        self._correct(lambda tx, now: corrections.unlink(tx, a, b, self.policy, now), "unlink")

    def forget(self, url: str, for_ever: bool = False) -> None:
        """Delete a page, its links and its account; `for_ever`: it never comes back, only its key is kept."""
        key = self._key(url)
        self._correct(lambda tx, now: corrections.forget(tx, key, for_ever, self.policy, now), "forget")

    def set_relevance(self, url: str, relevance: float | None) -> None:
        """How near a page is to the topic, 0..1; None: not known (½). Raises UnknownPage, BadInput."""
        _within_one("relevance", relevance)
        relevance = None if relevance is None else float(relevance)
        key = self._key(url)
        self._correct(lambda tx, now: corrections.relevance(tx, key, relevance, self.policy, now), "set_relevance")

    def set_payout(self, url: str, payout: float | None) -> None:
        """What the virtual page pays a page, 0 or more; None: 1. Raises UnknownPage, BadInput."""
        if payout is not None and (not _number(payout) or not 0 <= payout < 1e9):
            raise BadInput(f"payout must be 0 or more, not {payout!r}.")
        payout = None if payout is None else float(payout)
        key = self._key(url)
        self._correct(lambda tx, now: corrections.payout(tx, key, payout, self.policy, now), "set_payout")

    def set_host(
        self,
        host: str,
        *,
        delay: float | None = None,
        in_flight: int | None = None,
        blocked_for: float | None = None,
    ) -> None:
        """One host's own manners: seconds between claims, most claims out, seconds to leave it alone from now.

        None goes back to the brain's settings, and to no block. Raises BadInput for a host nobody has met.
        """
        good_delay = delay is None or (_number(delay) and 0 <= delay <= 86_400)
        if not good_delay or not (in_flight is None or (_whole(in_flight) and in_flight >= 0)):
            raise BadInput("A host's delay is 0 to 86400 seconds and its in_flight 0 (no limit) or more.")
        if blocked_for is not None and not (_number(blocked_for) and 0 <= blocked_for <= LONGEST_BLOCK):
            raise BadInput(f"A host can be blocked for 0 to {LONGEST_BLOCK:.0f} seconds, not {blocked_for!r}.")
        if not self.graph.read(lambda tx: hosts.read(tx, [host], self.policy.manners), "hosts/read"):
            raise BadInput(f"No page of host {host!r} is known.")
        self._correct(
            lambda tx, now: hosts.set_manners(tx, host, delay, in_flight, blocked_for, self.policy.manners, now),
            "set_host",
        )

    def clear(self) -> None:
        """Delete all pages, links, hosts and counters; the brain and its settings stay."""
        for statement in ("brain/clear_links", "brain/clear_nodes"):
            while self.graph.write(
                lambda tx, s=statement: tx.one(s, limit=10_000)[0],  # type: ignore[misc]
                statement,
            ):
                pass

    def remake(self, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too. Raises SettingsError when there are pages in it."""
        if self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
            raise SettingsError("Only an empty brain can be remade; clear it first.")
        wrong = sorted(set(settings) - set(Settings.names("shared", "fixed")))
        if wrong:
            raise SettingsError(f"{wrong[0]} is not a setting of a brain.")
        fresh = {**Settings.names("shared", "fixed"), "crawl": self.settings.crawl, **settings}
        changed = replace(self.settings, **fresh).checked()
        self.graph.write(lambda tx: tx.do("brain/change", settings={**fresh, "name": changed.crawl}), "brain/change")
        self._reread()

    def _correct(self, work: Callable[[Tx, float], object], name: str) -> None:
        self.graph.write(lambda tx: work(tx, self.now()), name)

    def _page(self, url: str) -> tuple[str, str]:
        return self._rules.page(url)

    def _key(self, url: str) -> str:
        """The key of a page named by its URL or its key."""
        if len(url) == 32 and all(c in "0123456789abcdef" for c in url):
            return url
        return self._rules.page(url)[1]


def _address(settings: Settings) -> tuple[str, str, str]:
    """URI, user and password: the settings', or those of the local server when no URI is set."""
    if settings.uri:
        return settings.uri, settings.user, settings.password
    from graphbrain import server  # a door: only looked at when no address is given

    running = server.find()
    if running is None:
        raise SettingsError("No Neo4j is known: start one with 'graphbrain server start', or set GRAPHBRAIN_URI.")
    return running.uri, running.user, running.password


def _stored(graph: Graph, given: Settings, create: bool, clock: Clock) -> Mapping[str, Any]:
    """The brain as its database holds it; the database is made a brain's first when it is empty."""
    schema.check(graph)
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
    if stored is None:
        schema.refuse_foreign(graph)
        if not create:
            raise SettingsError(f"There is no brain at {graph.uri}; run 'graphbrain schema apply' first.")
    if schema.pending(graph):
        schema.apply(graph, clock())
    if stored is None:
        fresh = {name: getattr(given, name) for name in Settings.names("fixed", "shared")}
        stored = graph.write(
            lambda tx: tx.one("brain/create", settings=fresh, now=clock(), rules=RULES_VERSION)[0],
            "brain/create",
        )
    brain: Mapping[str, Any] = stored
    return brain


def _fit(given: Settings, stored: Mapping[str, Any]) -> Settings:
    """The stored settings where the brain has them; SettingsError where what was given contradicts a fixed one."""
    if stored.get("url_rules") != RULES_VERSION:
        raise SettingsError(
            "The brain's pages are keyed by other URL rules than this graphbrain's; use the version that made it."
        )
    for name in Settings.names("fixed"):
        if name in given.given and name in stored and getattr(given, name) != stored[name]:
            if name == "crawl" and given.share:
                continue
            hint = "; give share=True to work on it all the same" if name == "crawl" else ""
            raise SettingsError(
                f"This brain was made with {name}={stored[name]!r}, not {getattr(given, name)!r}{hint}."
            )
    known = {name: stored[name] for name in Settings.names("fixed", "shared") if name in stored}
    return replace(given, **known)


def _batches(items: Sequence[tuple[int, Item]]) -> Iterator[list[tuple[int, Item]]]:
    """Whole pages, up to BATCH_PAGES of them and about BATCH_LINKS links."""
    batch: list[tuple[int, Item]] = []
    links = 0
    for numbered in items:
        more = len(numbered[1].targets)
        if batch and (len(batch) == BATCH_PAGES or links + more > BATCH_LINKS):
            yield batch
            batch, links = [], 0
        batch.append(numbered)
        links += more
    if batch:
        yield batch


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _within_one(name: str, value: float | None) -> None:
    if value is not None and (not _number(value) or not 0 <= value <= 1):
        raise BadInput(f"{name} must be from 0 to 1, not {value!r}.")
