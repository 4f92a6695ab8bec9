"""The whole: a crawler's verbs over the nouns. Only this shelf knows how they meet.

Each call is one transaction, or a row of them, each safe to run again; every call may be made from any thread and any
process. What follows from a report, the spreading of cash, is done by `tend`: by `graphbrain work` processes where
there are any, and otherwise by the brain itself, a little after each report, so that a single script need not care.
The other verbs stand in tending.py, looking.py, scoring.py, correcting.py, hosting.py and converting.py.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain import border, claims, conversion, hinting, notes, pages, report, schema, standing, tokens
from graphbrain.converting import Converting
from graphbrain.core import PASS_BATCH, whole
from graphbrain.correcting import Correcting
from graphbrain.corrections import Seeded
from graphbrain.errors import BadInput, GraphbrainError, SettingsError
from graphbrain.graph import Clock, Graph, Tx
from graphbrain.hosting import Hosting
from graphbrain.intake import Intake, named, unreadable
from graphbrain.looking import Looking
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
from graphbrain.opichits import Rule
from graphbrain.report import Item
from graphbrain.schedule import Estimator
from graphbrain.scoring import Scoring
from graphbrain.settings import Settings, to_convert
from graphbrain.tending import Tending
from graphbrain.url import RULES_VERSION

__all__ = ["ENOUGH", "Brain"]

BATCH_PAGES, BATCH_LINKS = 200, 10_000
"""A report is split into transactions of at most so many pages and links."""
LONGEST_LEASE = 604_800
"""Seconds, as of the setting `lease_seconds`."""
ENOUGH = 0.8
"""This part of the claims asked for is enough where some pages could not be had: for the rest of them all would have to
be looked at again, which takes as long as for the first."""


class Brain(Tending, Looking, Scoring, Correcting, Hosting, Converting):
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
        **settings: Any,
    ) -> Brain:
        """Open the brain of a database; make one when the database is empty (and `create` is true).

        `settings`: fields of `Settings`, over `GRAPHBRAIN_…` variables. A shared setting given here that differs from
        the brain's changes it for all; a fixed one raises SettingsError. `canonical`: the user's own last step of
        canonical URLs. `detector`: the user's own word on whether a page has changed, of what was seen of it when it
        last did and now; it must depend on nothing else, for it may be asked twice, and while pages are locked.
        `estimator`: the user's own way to learn how often pages change (`schedule.Estimator`). `as_it_is`: the brain
        keeps its engine and its shared settings, whatever is given. `clock`: epoch seconds, for tests only. Raises
        GraphUnavailable, GraphRefused, SchemaMismatch.
        """
        given = Settings.read(canonical=canonical, detector=detector, **settings)
        graph = Graph(*_address(given), given.database, given.limit_seconds)
        try:
            graph.connect()
            now = clock or graph.now
            stored = _stored(graph, given, create, now)
            brain = cls(graph, _fit(given, stored, as_it_is), stored, now, estimator)
            if not as_it_is:
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

    def _adopt(self, given: Settings) -> None:
        """Shared settings that were given to `open` and differ from the brain's become the brain's."""
        changes = {
            name: getattr(given, name)
            for name in Settings.names("shared")
            if name in given.given and getattr(given, name) != getattr(self.settings, name)
        }
        if changes:
            self.change(**changes)

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
                canonical, key = self._rules.page(url)
                good[key] = canonical
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no text
                refused.append((border.shown(url), unreadable(error)))
        answer = SeedAnswer(0, 0, tuple(refused))
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch, mark = {key: good[key] for key in keys[start : start + PASS_BATCH]}, tokens.token(self.now())
            found = self.graph.write(
                lambda tx, b=batch, m=mark: standing.seed(tx, b, m, self.policy, self.now()),  # type: ignore[misc]
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
        of_page: dict[str, dict[int, hinting.Noted]] = {}
        for number, hint in enumerate(hints):
            answers.append(None)
            try:
                noted = hinting.check(hint, self._rules, now)
                of_page.setdefault(noted.key, {})[number] = noted
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no hint
                answers[number] = Hinted(named(hint), False, unreadable(error))
        keys = sorted(of_page)
        for start in range(0, len(keys), PASS_BATCH):
            some = {key: [*of_page[key].values()] for key in keys[start : start + PASS_BATCH]}
            part = {key: hinting.together(told) for key, told in some.items()}
            outcomes = self.graph.write(self._hint(part), "hints")
            for key, told in some.items():
                for number, answer in zip(of_page[key], hinting.answers(told, outcomes.get(key)), strict=True):
                    answers[number] = answer
        return [answer for answer in answers if answer is not None]

    def _hint(self, part: Mapping[str, hinting.Noted]) -> Callable[[Tx], dict[str, HintOutcome]]:
        """One transaction of hints, which may be run again."""
        done: dict[str, HintOutcome] = {}
        trust = hinting.Trust(self.settings.hint_recall, self.settings.hint_false)
        return lambda tx: hinting.apply(tx, part, trust, self.policy, self.now(), done)

    def report(self, items: Sequence[Fetched | Failed | Unusable]) -> list[Answer]:
        """Record visits; one answer for each, in their order. Of each page all is recorded, or nothing.

        The claim of a visit that is refused for what it says, or has not, ends: its page has failed, and waits as such.
        """
        started, items = time.monotonic(), list(items)
        intake = Intake(self._rules, self.settings.max_links, self.now(), self.policy.change)
        answers: list[Answer | None] = [None] * len(items)
        checked: list[tuple[int, Item]] = []
        for number, made in enumerate(intake.all(items)):
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
            self._counts["pushes"] += done.pushes
            self._counts["payments"] += done.payments
            for (number, _), answer in zip(batch, done.answers, strict=True):
                answers[number] = answer
                self._counts["pages"] += answer.accepted
                self._counts["links"] += answer.links
        self._after_report(time.monotonic() - started)
        return [answer for answer in answers if answer is not None]

    def next_urls(self, n: int = 100, *, worker: str | None = None, wait: float = 0.0) -> Claims:
        """Claim up to `n` pages, best first; wait up to `wait` seconds for the first of them.

        When there are fewer than asked, the answer says when the next will be ready and whether the crawl is finished.
        That may be at once: pages whose hosts were not ready, or that others got first, are made up for only where a
        fifth of the claims would be missing.
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
        got: list[Claim] = []
        moves_left = 4 * n
        spread = self._spread["claims"]
        while True:
            taken = self.graph.write(self._take(n - len(got), token, worker, moves_left), "claims/take")
            got += taken.claims
            moves_left -= taken.moved
            spread.saw(taken.seen, taken.lost)
            self._reach.ready.saw(*taken.ready)
            self._reach.shared.saw(*taken.shared)
            self._paid(taken.worths)
            others = taken.moved > 0 or taken.lost > 0
            if len(got) == n:
                return Claims(got)
            if moves_left <= 0 or (others and len(got) >= ENOUGH * n):
                return Claims(got, next_ready=self.now())
            if not taken.claims and not others:
                break
        outlook = self.graph.read(lambda tx: claims.outlook(tx, self._finder, self.now()), "claims/outlook")
        return Claims(got, next_ready=outlook.next_ready, finished=outlook.finished and not got)

    def _take(self, n: int, token: str, worker: str, most_moves: int) -> Callable[[Tx], claims.Taken]:
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
            )

        return work

    def renew(self, held: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims for `seconds` from now (the lease's length by default); None for each that is lost.

        Raises BadInput for more than a week: nobody else could have the pages of whoever dies.
        """
        if seconds is not None and not (is_number(seconds) and 0 <= seconds <= LONGEST_LEASE):
            raise BadInput(f"A claim is held for 0 to {LONGEST_LEASE} seconds, not {seconds!r:.80}.")
        wanted = list(held)
        good = [claim for claim in wanted if border.usable(claim)]
        until = self.now() + (self.settings.lease_seconds if seconds is None else seconds)
        tokens = {claim.key: claim.token for claim in good}

        def work(tx: Tx) -> set[str]:
            return claims.renew(tx, tokens, pages.find(tx, tokens), until)

        kept = self.graph.write(work, "claims/renew") if good else set()
        return [replace(c, until=until) if border.usable(c) and c.key in kept else None for c in wanted]

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched: their pages wait again where they were. False for each that was lost before."""
        wanted = list(held)
        tokens = {claim.key: claim.token for claim in wanted if border.usable(claim)}

        def work(tx: Tx) -> set[str]:
            found, revisits = pages.find(tx, tokens), self.policy.rule.revisits
            return claims.release(tx, tokens, found, revisits, self.policy.manners, self.now())

        back = self.graph.write(work, "claims/release") if tokens else set()
        return [border.usable(claim) and claim.key in back for claim in wanted]

    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages (URL or key → text), known or to come.

        The first note on a page stands until the page is forgotten. Written before the page is reported as a link, or
        seeded, it is there whenever the page is claimed. The answer says why of each that was refused.
        """
        good: dict[str, str] = {}
        refused: dict[str, str] = {}
        for page, text in texts.items():
            try:
                if not isinstance(text, str) or len(text) > notes.LONGEST_NOTE:
                    raise BadInput(f"a note is text of at most {notes.LONGEST_NOTE} characters")
                good.setdefault(self._key(page), text.encode("utf-8", "replace").decode())
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no text
                refused[page] = unreadable(error)
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: good[key] for key in keys[start : start + PASS_BATCH]}
            self.graph.write(lambda tx, b=batch: notes.write(tx, b), "notes/write")  # type: ignore[misc]
        return refused

    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """The notes on these pages (claims, URLs or keys), by key; a page without one is not in the answer."""
        keys = [page.key if isinstance(page, Claim) else self._key(page) for page in pages]
        return self.graph.read(lambda tx: notes.read(tx, keys), "notes/read") if keys else {}


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
    from graphbrain import server  # a door: only looked at when no address is given

    running = server.find()
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
        fresh |= conversion.properties(Rule.of(fresh), clock())
        stored = graph.write(
            lambda tx: tx.one("brain/create", settings=fresh, now=clock(), rules=RULES_VERSION)[0],
            "brain/create",
        )
        if stored["engine"] != given.engine:  # somebody else has made it, and the indexes may be ours
            conversion.furnish(graph)
    brain: Mapping[str, Any] = stored
    return brain


def _fit(given: Settings, stored: Mapping[str, Any], any_engine: bool) -> Settings:
    """The stored settings where the brain has them; SettingsError where what was given contradicts a fixed one (its
    engine, unless any will do)."""
    if stored.get("url_rules") != RULES_VERSION:
        raise SettingsError(
            "The brain's pages are keyed by other URL rules than this graphbrain's; use the version that made it."
        )
    # A brain that is older than a setting has its default.
    stored = {**Settings.names("fixed"), **stored}
    for name in Settings.names("fixed"):
        if name in given.given and getattr(given, name) != stored[name]:
            if (name == "crawl" and given.share) or (name == "engine" and any_engine):
                continue
            hints = {"crawl": "; give share=True to work on it all the same", "engine": f"; {to_convert(given.engine)}"}
            hint = hints.get(name, "")
            raise SettingsError(
                f"This brain was made with {name}={stored[name]!r}, not {getattr(given, name)!r}{hint}."
            )
    return given.standing(stored)


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
