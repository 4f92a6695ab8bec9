"""The whole: a crawler's verbs over the nouns. Only this shelf knows how they meet.

Each call is one transaction, or a row of them, each safe to run again; every call may be made from any thread and any
process. What follows from a report, the spreading of cash, is done by `tend`: by `graphbrain work` processes where
there are any, and otherwise by the brain itself, a little after each report, so that a single script need not care.
The other verbs stand in tending.py, looking.py, scoring.py, correcting.py, hosting.py, converting.py and rekeying.py.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain import border, tokens
from graphbrain.accounts import conversion
from graphbrain.brain.edit import Correcting
from graphbrain.brain.hosts import Hosting
from graphbrain.brain.look import Looking
from graphbrain.brain.rank import Scoring
from graphbrain.brain.rekey import Rekeying
from graphbrain.brain.session import PASS_BATCH, whole
from graphbrain.brain.upkeep import Tending
from graphbrain.errors import BadInput, GraphbrainError, GraphTooSmall, SettingsError
from graphbrain.frontier import change_hints, claims, dense, discovery, notes, orphans, report
from graphbrain.frontier.edits import Seeded
from graphbrain.frontier.validate import Intake, named, refused, unreadable
from graphbrain.frontier.verdicts import Item
from graphbrain.graph import schema
from graphbrain.graph.connection import Clock, Graph, Tx
from graphbrain.model import (
    ROBOTS,
    SCOPE,
    Answer,
    Claim,
    Claims,
    Failed,
    Fetched,
    Hint,
    Hinted,
    HintOutcome,
    SeedAnswer,
    Seen,
    Unusable,
)
from graphbrain.model import number as is_number
from graphbrain.rules import Rule
from graphbrain.schedule import lanes
from graphbrain.schedule.priors import read_priors
from graphbrain.schedule.value import Estimator, Schedule
from graphbrain.scope import Scope
from graphbrain.settings import Settings, other_than, to_convert
from graphbrain.url import RULES_VERSION, cleaner, is_key
from graphbrain.url_v1 import VERSION

__all__ = ["ENOUGH", "Brain"]

BATCH_PAGES, BATCH_LINKS = 200, 10_000
"""A report is split into transactions of at most so many pages and links."""
LONGEST_LEASE = 604_800
"""Seconds, as of the setting `lease_seconds`."""
ENOUGH = 0.8
"""This part of the claims asked for is enough where some pages could not be had: for the rest of them all would have to
be looked at again, which takes as long as for the first."""
FAIR = 0.25
"""With this part of its claims a call ends once it has moved as many pages as it may. The next call moves more."""
BULK = 1_000
"""Pages that stand in the way of others are moved by so many at once: a transaction that takes tens of milliseconds."""
CLEARING = 0.8
"""Seconds after which a call leaves it to the next ones to move more of them."""
BEYOND = (2_000, 30_000, 120_000)
"""To find a page behind them so many are looked at, one after another."""


class Brain(Tending, Looking, Scoring, Correcting, Hosting, Rekeying):
    """One crawl's brain. Open it with `Brain.open`; close it, or use it as a context manager."""

    @classmethod
    def open(
        cls,
        *,
        create: bool = True,
        canonical: Callable[[str], str] | None = None,
        detector: Callable[[Seen, Seen], bool] | None = None,
        clock: Clock | None = None,
        estimator: Estimator | None = None,
        as_it_is: bool = False,
        to_rekey: bool = False,
        **settings: Any,
    ) -> Brain:
        """Open the brain of a database; make one when the database is empty (and `create` is true).

        `settings`: fields of `Settings`, over `GRAPHBRAIN_…` variables. A brain without pages takes the shared ones
        among them. Where there are pages, one that differs from the brain's raises SettingsError, as a fixed one always
        does; with `change_settings=True` it changes the brain's for all. `canonical`: the user's own last step of keys
        (`url.normal`). `detector`: the user's own word on whether a page has changed, of what was seen of it when it
        last did and now; it must depend on nothing else, for it may be asked twice, and while pages are locked.
        `estimator`: the user's own way to learn how often pages change (`schedule.value.Estimator`). `as_it_is`: the
        brain keeps its engine and its shared settings, whatever is given. `to_rekey`: one made by older URL rules is
        opened, too, as it is, and closed to all that writes pages until `rekey` has moved it. `clock`: epoch seconds,
        for tests only. Raises GraphUnavailable, GraphRefused, SchemaMismatch, SettingsError.
        """
        given = Settings.read(canonical=canonical, detector=detector, **settings)
        Scope.of(given)  # before a brain is made with what nobody could open again
        Schedule.of(given, *read_priors({}), estimator)
        graph = Graph(*_address(given), given.database, given.limit_seconds)
        try:
            graph.connect()
            now = clock or graph.now
            stored = _stored(graph, given, create, now)
            if not to_rekey:
                _refuse_other_rules(stored)
            brain = cls(graph, _fit(given, stored, as_it_is or to_rekey), stored, now, estimator)
            if not (as_it_is or to_rekey):
                brain._adopt(given, {name for name in given.given if settings.get(name) is None})
                brain._renew_lanes()
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

    def _adopt(self, given: Settings, from_environment: Container[str]) -> None:
        """Shared settings that were given to `open` become those of a brain that has no pages yet. What a crawl goes by
        is moved by a word that says so, not by whoever comes along: SettingsError."""
        changes = given.unlike(self.settings)
        if not changes:
            return
        if not given.change_settings and self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
            raise SettingsError(other_than(self.settings, changes, from_environment))
        self.change(**changes)

    def _renew_lanes(self) -> None:
        """Pages of a brain that was made with other lanes move to those of today, by whoever tends; till then claims
        read both."""
        if self._stored.get("lanes") == lanes.VERSION or self._closed:
            return
        self.graph.write(
            lambda tx: tx.do("brain/change", settings={"lanes": lanes.VERSION, "remarking": ""}), "brain/change"
        )
        self._reread()

    def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages of these URLs, where the crawl begins; known pages become seeds. Bad URLs are refused by item.

        A page that was given up waits again, as by `retry`. The answer tells which will not be fetched, and why.
        """
        if isinstance(urls, str | bytes):
            raise BadInput("seed takes a list of URLs, not one URL.")
        good: dict[str, str] = {}
        refused: list[tuple[str, str]] = []
        for url in urls:
            try:
                written, key = self._rules.page(url)
                good[key] = cleaner(good.get(key, written), written)
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no text
                refused.append((border.shown(url), unreadable(error)))
        answer = SeedAnswer(0, 0, tuple(refused))
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch, mark = {key: good[key] for key in keys[start : start + PASS_BATCH]}, tokens.token(self.now())
            found = self.graph.write(
                lambda tx, b=batch, m=mark: orphans.seed(tx, b, m, self.policy, self.now()),  # type: ignore[misc]
                "pages/seed",
            )
            answer += _seeded(batch, found)
        return answer

    def hint(self, hints: Iterable[Hint | str]) -> list[Hinted]:
        """Take word that pages have changed; a bare URL or key is a ping. One answer for each, in their order.

        A page that nobody knew is created, one click away from where the crawl begins, if it is named by its URL. One
        that was fetched waits as if it had not been seen for longer (settings `hint_recall`, `hint_false`), once for
        each hint that is newer than its last visit and its last hint.
        """
        now = self.now()
        answers: list[Hinted | None] = []
        of_page: dict[str, dict[int, change_hints.Noted]] = {}
        for number, hint in enumerate(hints):
            answers.append(None)
            try:
                noted = change_hints.check(hint, self._rules, now)
                of_page.setdefault(noted.key, {})[number] = noted
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no hint
                answers[number] = Hinted(named(hint), False, unreadable(error))
        keys = sorted(of_page)
        for start in range(0, len(keys), PASS_BATCH):
            some = {key: [*of_page[key].values()] for key in keys[start : start + PASS_BATCH]}
            part = {key: change_hints.together(told) for key, told in some.items()}
            outcomes = self.graph.write(self._hint(part), "hints")
            for key, told in some.items():
                for number, answer in zip(of_page[key], change_hints.answers(told, outcomes.get(key)), strict=True):
                    answers[number] = answer
        return [answer for answer in answers if answer is not None]

    def _hint(self, part: Mapping[str, change_hints.Noted]) -> Callable[[Tx], dict[str, HintOutcome]]:
        """One transaction of hints, which may be run again."""
        done: dict[str, HintOutcome] = {}
        trust = change_hints.Trust(self.settings.hint_recall, self.settings.hint_false)
        return lambda tx: change_hints.apply(tx, part, trust, self.policy, self.now(), done)

    def report(self, items: Sequence[Fetched | Failed | Unusable]) -> list[Answer]:
        """Record visits; one answer for each, in their order. Of each page all is recorded, or nothing.

        The claim of a visit that is refused for what it says, or has not, ends: its page has failed, and waits as such.
        """
        items = list(items)
        if not self._was_moved:
            return self._report(items)
        answers: dict[int, Answer] = {}
        for part in self._rounds([getattr(item, "claim", None) for item in items]):
            now = [_claimed_at(items[number], key) for number, key in part.items()]
            answers |= dict(zip(part, self._report(now), strict=True))
        return [answers[number] for number in range(len(items))]

    def _rounds(self, held: Sequence[object]) -> list[dict[int, str | None]]:
        """Claims by their places: the keys that their pages have now; None for what is no claim. In a moved brain
        several may be for one page, that were for several: those come in rounds, one after the other."""
        keys = [claim.key if isinstance(claim, Claim) and border.usable(claim) else None for claim in held]
        moved = {}
        if self._was_moved:
            # Claims say when they were made, but for those of older versions: after the move they have today's keys.
            moved_at = float(self._stored.get("moved_at") or math.inf)
            older = {c.key for c in held if isinstance(c, Claim) and (tokens.made_at(c.token) or 0.0) <= moved_at}
            wanted = sorted(key for key in older if is_key(key))
            if wanted:
                moved = dict(self.graph.read(lambda tx: tx.one("rekey/traces", keys=wanted)[0], "rekey/traces"))
        rounds: list[dict[int, str | None]] = [{}]
        met: Counter[str] = Counter()
        for number, key in enumerate(keys):
            now = None if key is None else moved.get(key, key)
            turn = met[now] if now is not None and moved else 0
            met.update([now] if now is not None else [])
            while len(rounds) <= turn:
                rounds.append({})
            rounds[turn][number] = now
        return rounds

    def _report(self, items: Sequence[Fetched | Failed | Unusable]) -> list[Answer]:
        started = time.monotonic()
        intake = Intake(self._rules, self.settings.max_links, self.now(), self.policy.change)
        answers: list[Answer | None] = [None] * len(items)
        checked: list[tuple[int, Item]] = []
        for number, made in enumerate(intake.all(items)):
            if isinstance(made, Answer):
                answers[number] = made
            else:
                checked.append((number, made))
        for batch in _batches(checked):
            numbers = {item.key: number for number, item in batch}
            for key, answer in self._record([item for _, item in batch]):
                answers[numbers[key]] = answer
                self._counts["pages"] += answer.accepted
                self._counts["links"] += answer.links
        self._after_report(time.monotonic() - started)
        return [answer for answer in answers if answer is not None]

    def _record(self, items: Sequence[Item]) -> list[tuple[str, Answer]]:
        """Record visits in one transaction, or in several where their pages have too many links for that; the key and
        the answer of each."""
        try:
            return self._record_at_once(items)
        except report.Heavy as heavy:
            links = heavy.links
        except GraphTooSmall:
            links = {item.key: len(item.targets) for item in items}
        answers: list[tuple[str, Answer]] = []
        for batch in _batches([*enumerate(items)], links):
            answers += self._record_apart([item for _, item in batch], links)
        return answers

    def _record_apart(self, items: Sequence[Item], links: Mapping[str, int]) -> list[tuple[str, Answer]]:
        """The same of visits with so many links; where memory is too small for some page, it alone is refused."""
        try:
            for item in items:
                if links[item.key] > report.MOST_OF_ONE:
                    self._part(item)
            return self._record_at_once(items, heavy=True)
        except GraphTooSmall as error:
            if len(items) > 1:
                middle = len(items) // 2
                return [*self._record_apart(items[:middle], links), *self._record_apart(items[middle:], links)]
            (item,) = items
            why = f"its {links[item.key]:,} links are more than Neo4j's memory holds ({error})"
            failure = refused(item, why)
            if failure is None:
                return [(item.key, Answer(item.report.url, False, why))]
            return self._record_at_once([failure])

    def _record_at_once(self, items: Sequence[Item], *, heavy: bool = False) -> list[tuple[str, Answer]]:
        done = self.graph.write(
            lambda tx: report.record(tx, items, self.policy, self.now(), heavy=heavy),
            "report",
        )
        self._counts["pushes"] += done.pushes
        self._counts["payments"] += done.payments
        return [(item.key, answer) for item, answer in zip(items, done.answers, strict=True)]

    def _part(self, item: Item) -> None:
        """Let most of a page's links come and go before its visit is recorded."""
        keys = self.graph.read(lambda tx: dense.missing(tx, item, self.policy), "report")
        for start in range(0, len(keys), dense.AT_ONCE):
            self.graph.write(
                lambda tx, k=keys[start : start + dense.AT_ONCE]: dense.add(tx, item, k, self.policy, self.now()),  # type: ignore[misc]
                "report",
            )
        while self.graph.write(lambda tx: dense.remove(tx, item, self.policy, self.now()), "report"):
            pass

    def next_urls(self, n: int = 100, *, worker: str | None = None, wait: float = 0.0) -> Claims:
        """Claim up to `n` pages, best first; wait up to `wait` seconds for the first of them.

        When there are fewer than asked, the answer says when the next will be ready and whether the crawl is finished.
        That may be at once: pages that others got first are made up for only where a fifth of the claims would be
        missing, and where very many pages of hosts that are not ready stand in the way, a quarter is enough. Where they
        stand before all others, a call may take a second to move them out of the way.
        """
        if not whole(n) or not 1 <= n <= 10_000:
            raise BadInput(f"next_urls takes 1 to 10000 pages, not {n!r:.80}.")
        worker = border.name("worker", worker) if worker is not None and worker != "" else self.settings.worker
        if not is_number(wait) or math.isnan(wait):
            raise BadInput(f"wait must be in seconds, not {wait!r:.80}.")
        deadline = time.monotonic() + wait
        while True:
            claimed = self._claim(n, worker)
            left = deadline - time.monotonic()
            if len(claimed) or claimed.finished or left <= 0:
                self._counts["claims"] += len(claimed)
                self._count_now_and_then()
                return claimed
            ready_in = (claimed.next_ready or self.now() + 1.0) - self.now()
            time.sleep(min(left, max(0.01, min(ready_in, 1.0))))

    def _claim(self, n: int, worker: str) -> Claims:
        self._sweep_now_and_then()
        token = tokens.token(self.now())
        aliases = self._claim_due_aliases(n, token, worker)
        got: list[Claim] = []
        if self._clogged:
            self._clogged = not self._clear(token, worker, CLEARING)
        more = self._fill(got, n - len(aliases), token, worker)
        self._aliases.took(len(aliases), len(aliases) + len(got), n)
        got += aliases
        while len(got) < n:
            if not more:  # nothing else can be had: aliases may have all of it
                got += self._claim_aliases(n - len(got), token, worker)
            if len(got) == n:
                break
            outlook = self.graph.read(self._look_out, "claims/outlook")
            if not outlook.overdue or not self._sweep() + self._release_due():
                return Claims(
                    got,
                    next_ready=outlook.next_ready,
                    finished=outlook.finished and not got,
                    next_unfailed=outlook.next_unfailed,
                )
            more = self._fill(got, n, token, worker)
        return Claims(got)

    def _look_out(self, tx: Tx) -> claims.Outlook:
        return claims.outlook(tx, self._finder, self.policy.manners, self.now())

    def _fill(self, got: list[Claim], n: int, token: str, worker: str) -> bool:
        """Claim pages until there are `n`, or enough, or no more to be had now; may there be more, though there are
        fewer?"""
        moves_left, until = 4 * n, time.monotonic() + CLEARING
        spread = self._spread["claims"]
        while len(got) < n:
            taken = self.graph.write(self._take(n - len(got), token, worker, moves_left), "claims/take")
            got += taken.claims
            moves_left -= taken.moved
            spread.saw(taken.seen, taken.lost)
            self._reach.ready.saw(*taken.ready)
            self._reach.shared.saw(*taken.shared)
            self._paid(taken.worths)
            if len(got) == n or not (taken.claims or taken.in_vain):
                return False
            if taken.in_vain and len(got) >= ENOUGH * n:
                return True
            if moves_left > 0:
                continue
            if len(got) >= FAIR * n:
                return True
            if not self._clear(token, worker, 0.0):
                self._clogged = True
                got += self._from_behind(n - len(got), token, worker)
                return len(got) < n
            if time.monotonic() > until:
                return True
            moves_left = 4 * n
        return False

    def _claim_due_aliases(self, n: int, token: str, worker: str) -> list[Claim]:
        """Claim the share of aliases among `n` claims, if any are due: that is looked up once a second at most."""
        places, now = self._aliases.places(n), self.now()
        if not places or 0.0 <= now - self._no_alias_at < 1.0:
            return []
        claimed = self._claim_aliases(places, token, worker)
        self._no_alias_at = -math.inf if claimed else now
        return claimed

    def _claim_aliases(self, n: int, token: str, worker: str) -> list[Claim]:
        """Claim up to `n` aliases that are to be looked at again."""
        tried: set[str] = set()

        def work(tx: Tx) -> list[Claim]:
            if tried and (found := claims.mine(tx, token, tried)):
                return found
            return claims.take_aliases(
                tx,
                n,
                token=token,
                worker=worker,
                clock=self.now,
                lease=self.settings.lease_seconds,
                manners=self.policy.manners,
                tried=tried,
            )

        due = self.graph.read(lambda tx: tx.one("claims/aliases_due", now=self.now(), limit=1)[0], "claims/aliases_due")
        if not due:
            return []
        return self.graph.write(work, "claims/take_aliases")

    def _clear(self, token: str, worker: str, seconds: float) -> bool:
        """Move pages of hosts that are not ready out of the way of others, as long as many of them are in front; False
        when time was up before."""
        until = time.monotonic() + seconds
        while True:
            taken = self.graph.write(self._take(0, token, worker, BULK, BULK), "claims/clear")
            if taken.moved < BULK // 4:
                return True
            if time.monotonic() >= until:
                return False

    def _from_behind(self, n: int, token: str, worker: str) -> Sequence[Claim]:
        """Claim pages from behind those that are in the way."""
        for depth in BEYOND:
            taken = self.graph.write(self._take(n, token, worker, BULK, depth), "claims/take")
            if taken.claims:
                return taken.claims
        return ()

    def _take(self, n: int, token: str, worker: str, most_moves: int, front: int = 0) -> Callable[[Tx], claims.Taken]:
        """One claiming transaction. From its second attempt on it first looks for what the lost one has taken."""
        tried: set[str] = set()

        def work(tx: Tx) -> claims.Taken:
            if tried and (found := claims.mine(tx, token, tried)):
                return claims.Taken(found, 0, 0, len(found))
            return claims.take(
                tx,
                n,
                token=token,
                worker=worker,
                clock=self.now,
                lease=self.settings.lease_seconds,
                manners=self.policy.manners,
                finder=self._finder,
                reach=self._reach,
                spread=self._spread["claims"].times,
                most_moves=most_moves,
                tried=tried,
                front=front,
            )

        return work

    def renew(self, held: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims for `seconds` from now (the lease's length by default); None for each that is lost.

        Raises BadInput for more than a week: nobody else could have the pages of whoever dies.
        """
        if seconds is not None and not (is_number(seconds) and 0 <= seconds <= LONGEST_LEASE):
            raise BadInput(f"A claim is held for 0 to {LONGEST_LEASE} seconds, not {seconds!r:.80}.")
        wanted = list(held)
        until = self.now() + (self.settings.lease_seconds if seconds is None else seconds)

        def work(tx: Tx, held: dict[str, str]) -> set[str]:
            return claims.renew(tx, held, discovery.find(tx, held), until)

        kept = self._for_claims(wanted, work, "claims/renew")
        return [replace(claim, key=key, until=until) if key else None for claim, key in zip(wanted, kept, strict=True)]

    def _for_claims(
        self, wanted: Sequence[Claim], work: Callable[[Tx, dict[str, str]], set[str]], name: str
    ) -> list[str | None]:
        """Do something with claims, key → token, that answers which were good: the keys of their pages, None of the
        others."""
        good: list[str | None] = [None] * len(wanted)
        for part in self._rounds(wanted) if wanted else ():
            tokens = {key: wanted[number].token for number, key in part.items() if key is not None}
            kept = self.graph.write(lambda tx, t=tokens: work(tx, t), name) if tokens else set()  # type: ignore[misc]
            for number, key in part.items():
                good[number] = key if key in kept else None
        return good

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched: their pages wait again where they were. False for each that was lost before."""
        wanted = list(held)

        def work(tx: Tx, held: dict[str, str]) -> set[str]:
            found, revisits = discovery.find(tx, held), self.policy.rule.revisits
            return claims.release(tx, held, found, revisits, self.policy.manners, self.now())

        return [key is not None for key in self._for_claims(wanted, work, "claims/release")]

    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages (URL or key → text), known or to come.

        The first note on a page stands until the page is forgotten. Written before the page is reported as a link, or
        seeded, it is there whenever the page is claimed. The answer says why of each that was refused.
        """
        good: dict[str, str] = {}
        refused: dict[str, str] = {}
        older: dict[str, str] = {}
        for page, text in texts.items():
            try:
                if not isinstance(text, str) or len(text) > notes.LONGEST_NOTE:
                    raise BadInput(f"a note is text of at most {notes.LONGEST_NOTE} characters")
                key = self._key(page)
                good.setdefault(key, text.encode("utf-8", "replace").decode())
                if (old := self._old_key(page)) is not None:
                    older[old] = key
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no text
                refused[page] = unreadable(error)
        if older:
            for old in self.graph.read(lambda tx: notes.read(tx, older), "notes/read"):
                good.pop(older[old], None)
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: good[key] for key in keys[start : start + PASS_BATCH]}
            self.graph.write(lambda tx, b=batch: notes.write(tx, b), "notes/write")  # type: ignore[misc]
        return refused

    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """The notes on these pages (claims, URLs or keys), by key; a page without one is not in the answer."""
        named = list(pages)
        keys = [page.key if isinstance(page, Claim) else self._key(page) for page in named]
        if not keys:
            return {}
        older: dict[str, str] = {}
        if self._was_moved:
            urls = [page.url if isinstance(page, Claim) else page for page in named]
            older = {key: old for key, url in zip(keys, urls, strict=True) if (old := self._old_key(url)) is not None}
        found = self.graph.read(lambda tx: notes.read(tx, [*keys, *older.values()]), "notes/read")
        wanted = {key: found.get(key, found.get(older.get(key, ""))) for key in keys}
        return {key: text for key, text in wanted.items() if text is not None}


OUTSIDE = {
    SCOPE: "it is outside the scope of the crawl (allow_hosts, deny_hosts, allow_urls, deny_urls, max_depth): it will "
    "not be fetched",
    ROBOTS: "its host's robots.txt forbids it: it will not be fetched",
}


def _seeded(urls: Mapping[str, str], found: Mapping[str, tuple[Seeded, Seeded]]) -> SeedAnswer:
    """What is to be said of seeds (key → URL), by what was found and made of each that was not forgotten for ever."""
    created = known = outside = gone = 0
    refused: list[tuple[str, str]] = []
    remarks: list[tuple[str, str]] = []
    for key, url in urls.items():
        if key not in found:
            refused.append((url, "it was forgotten for ever"))
            continue
        before, after = found[key]
        if after.state == "outside":
            outside += 1
            remarks.append((url, OUTSIDE.get(after.outside_because or SCOPE, OUTSIDE[SCOPE])))
        elif after.state != before.state:
            gone += 1
            remarks.append((url, f"it was {before.state}: it waits again"))
        elif after.created:
            created += 1
        else:
            known += 1
    return SeedAnswer(created, known, tuple(refused), outside, gone, len(refused), tuple(remarks))


def _address(settings: Settings) -> tuple[str, str, str]:
    """URI, user and password: the settings', or those of the local server when no URI is set."""
    if settings.uri:
        return settings.uri, settings.user, settings.password
    from graphbrain.server import lifecycle  # a door: only looked at when no address is given

    running = lifecycle.find()
    if running is None:
        raise SettingsError("No Neo4j is known: start one with 'graphbrain server start', or set GRAPHBRAIN_URI.")
    return running.uri, running.user, running.password


def _stored(graph: Graph, given: Settings, create: bool, clock: Clock) -> Mapping[str, Any]:
    """The brain as its database holds it; the database is made a brain's first when it is empty."""
    schema.check(graph)
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
    if stored is None and schema.imported(graph):
        stored = schema.adopt(graph, clock())
    elif stored is None:  # somebody may have made it a brain between the two looks
        stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
    if stored is None:
        schema.refuse_foreign(graph)
        if not create:
            raise SettingsError(f"There is no brain at {graph.uri}; run 'graphbrain schema apply' first.")
    if schema.pending(graph):
        schema.apply(graph, clock())
    if stored is None:
        conversion.furnish(graph, given.engine)
        fresh = {name: getattr(given, name) for name in Settings.names("fixed", "shared")}
        fresh |= conversion.properties(Rule.of(fresh), clock()) | {"lanes": lanes.VERSION}
        stored = graph.write(
            lambda tx: tx.one("brain/create", settings=fresh, now=clock(), rules=RULES_VERSION)[0],
            "brain/create",
        )
        if stored["engine"] != given.engine:  # somebody else has made it, and the indexes may be ours
            conversion.furnish(graph)
    brain: Mapping[str, Any] = stored
    return brain


def _refuse_other_rules(stored: Mapping[str, Any]) -> None:
    """Raise SettingsError where pages are keyed by other URL rules than today's."""
    rules = stored.get("url_rules")
    if stored.get("rekeying") is not None:
        raise SettingsError(
            "The brain's pages are being moved to newer URL rules: wait, or run 'graphbrain rekey' again if that was "
            "stopped."
        )
    if rules == VERSION:
        raise SettingsError(
            "The brain was made by an older graphbrain, whose pages have other keys: stop what uses it, then move it "
            "with 'graphbrain rekey'."
        )
    if rules != RULES_VERSION:
        raise SettingsError(
            "The brain's pages are keyed by other URL rules than this graphbrain's; use the version that made it."
        )


def _fit(given: Settings, stored: Mapping[str, Any], any_engine: bool) -> Settings:
    """The stored settings where the brain has them; SettingsError where what was given contradicts a fixed one (its
    engine, unless any will do)."""
    # A brain that is older than a setting has its default.
    stored = {**Settings.names("fixed"), **stored}
    for name in Settings.names("fixed"):
        if name in given.given and getattr(given, name) != stored[name]:
            if (name == "crawl" and given.share) or (name == "engine" and any_engine):
                continue
            crawl = f"; name that one (--crawl {stored['crawl']}), or say share=True (GRAPHBRAIN_SHARE=yes)"
            hint = {"crawl": crawl, "engine": f"; {to_convert(given.engine)}"}.get(name, "")
            raise SettingsError(
                f"This brain was made with {name}={stored[name]!r}, not {getattr(given, name)!r}{hint}."
            )
    return given.standing(stored)


def _claimed_at(item: Fetched | Failed | Unusable, key: str | None) -> Fetched | Failed | Unusable:
    """The report of a claim whose page has this key now."""
    claim = item.claim
    if claim is None or key is None or claim.key == key:
        return item
    return replace(item, claim=replace(claim, key=key))


def _batches(
    items: Sequence[tuple[int, Item]], known: Mapping[str, int] | None = None
) -> Iterator[list[tuple[int, Item]]]:
    """Whole pages, up to BATCH_PAGES of them and about BATCH_LINKS links; `known`: how many each page has, by its key,
    if not those alone that are told."""
    batch: list[tuple[int, Item]] = []
    links = 0
    for numbered in items:
        more = len(numbered[1].targets) if known is None else known[numbered[1].key]
        if batch and (len(batch) == BATCH_PAGES or links + more > BATCH_LINKS):
            yield batch
            batch, links = [], 0
        batch.append(numbered)
        links += more
    if batch:
        yield batch
