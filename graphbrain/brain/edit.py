"""Corrections by hand: links, pages, relevance, payouts, settings. Accounts are repaired in the same
transaction, or, where a setting changes for every page, in batches beside whatever else runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from graphbrain.accounts import conversion, payout_policy
from graphbrain.brain import engines
from graphbrain.brain.backfill import Passing, Progress
from graphbrain.brain.session import PASS_BATCH
from graphbrain.errors import BadInput, SettingsError, UnknownPage
from graphbrain.frontier import discovery, edits, notes, orphans
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx
from graphbrain.hosts import admin
from graphbrain.hosts.politeness import NOTHING_COUNTED
from graphbrain.inspect import scan
from graphbrain.model import number
from graphbrain.rules import Rule
from graphbrain.schedule.change_rate import MOST_SHAPE
from graphbrain.schedule.priors import NO_PRIORS
from graphbrain.schedule.value import DAY
from graphbrain.scope import Scope
from graphbrain.settings import Settings, to_convert, typed, unknown
from graphbrain.url import is_key

__all__ = ["Correcting"]

GIVEN_UP = ("parked", "gone", "alias")

NOBODY_AT_WORK = {"settling": None, "settling_until": None}
"""What stands on a brain of whoever settles all accounts."""


class Correcting(Passing):
    """The verbs that set something right."""

    def change(self, progress: Progress = lambda *_: None, /, **settings: Any) -> None:
        """Change shared settings of the brain, for all who use it.

        Other open brains take them up with their next report or push, or within a second of claiming. What follows
        from `eps`, `max_payees`, `order` or the scope is recomputed for every page, in batches, beside whatever else
        runs; so are payouts, and what `pages_per_host` and `user_agent` mean to each host. While links get another
        weight (`intra_host_weight`), reports and pushes wait, and help. If this process dies, whoever comes next goes
        on with payouts, weights and hosts. `progress` is told how many of how many pages have theirs. Raises
        SettingsError, also when the engine pays all pages alike, and BeingConverted between two engines.
        """
        wrong = sorted(set(settings) - set(Settings.names("shared")))
        if wrong and wrong[0] not in Settings.names():
            raise SettingsError(unknown(wrong[0], Settings.names("shared")))
        if wrong:
            hint = f"; {to_convert(str(settings['engine']))}" if wrong[0] == "engine" else ""
            raise SettingsError(f"{wrong[0]} cannot be changed on a brain that exists{hint}.")
        self._reread()
        engines.of(self.policy.rule)
        settings = {name: typed(name, value) for name, value in settings.items()}
        changed = replace(self.settings, **settings).checked()
        Scope.of(changed)
        self._schedule_of(changed)
        if changed.pages_per_host > 0 or self.settings.pages_per_host > 0:
            self._count_budgets()
        notes = {"reviewing_hosts": ""} if admin.REVIEWING & set(settings) else {}
        self.graph.write(lambda tx: payout_policy.change(tx, settings, notes), "brain/change")
        self._reread()
        self._finish_passes(progress)

    def link(self, source: str, target: str) -> bool:
        """Say that one page links to another; a link that is there stays: then it is False.

        Pages that are not known are created, but for one that is named by its key: then it raises UnknownPage.
        """
        a, b = self._named(source), self._named(target)
        if a[0] == b[0]:
            raise BadInput("A link from a page to itself is ignored everywhere.")
        return self._correct_once(lambda tx, now: edits.link(tx, a, b, self.policy, now), "link")

    def _named(self, url: str) -> tuple[str, str | None]:
        """The key of a page and, when it was not named by that, its URL."""
        key = self._key(url)
        return key, None if is_key(url) else self._page(url)[0]

    def unlink(self, source: str, target: str) -> bool:
        """Remove a link; nothing happens when it is not there: then it is False."""
        a, b = self._key(source), self._key(target)
        return self._correct_once(lambda tx, now: edits.unlink(tx, a, b, self.policy, now), "unlink")

    def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page, its links and its account; `for_ever`: it never comes back, only its key is kept.

        Its aliases wait to be fetched again. The answer is how many links it had, or None when there was no such page.
        """
        key, old = self._key(url), self._old_key(url)
        links: int | None = self.graph.read(lambda tx: tx.one("links/count", key=key)[0], "links/count")
        self._free_aliases_of(key)

        def work(tx: Tx) -> bool:
            if old is not None:
                notes.forget(tx, old)
            return edits.forget(tx, key, for_ever, self.policy, self.now())

        while not self.graph.write(work, "forget"):
            pass
        return links

    def retry(self, *urls: str, host: str | None = None, state: str | None = None) -> int:
        """Let pages that were given up (parked, gone), redirect (aliases) or have failed wait at once as if they never
        had; how many.

        Named pages, or all of a `host`, a `state` ("parked", "gone", "alias", or "frontier" and "known" for those that
        wait to be tried again), or both. Those that were fetched before are handed out before all others. A page
        outside the scope goes outside. Raises UnknownPage, and BadInput when nothing is named.
        """
        if not urls and host is None and state is None:
            raise BadInput("Say which pages are to be tried again: URLs, a host, a state.")
        if urls and (host is not None or state is not None):
            raise BadInput("Give either URLs, or a host and a state.")
        self._reread()
        if urls:
            keys = [self._known(url) for url in urls]
            ids: Iterable[int] = self.graph.read(lambda tx: discovery.find(tx, keys), "pages/find").values()
        else:
            wanted = scan.Wanted.of("", None, self._host_or_none(host), state, None)
            found = scan.wanted_pages(self.graph, wanted, lambda *_: None)
            ids = (page.id for page in found if page.state in GIVEN_UP or page.not_before is not None)
        done, rest = 0, iter(ids)
        while part := list(islice(rest, PASS_BATCH)):
            done += self.graph.write(
                lambda tx, i=part: orphans.retry(tx, i, self.policy, self.now()),  # type: ignore[misc]
                "pages/retry",
            )
        return done

    def set_relevance(self, url: str, relevance: float | None) -> None:
        """How near a page is to the topic, 0..1; None: not known (½). Raises UnknownPage, BadInput."""
        _within_one("relevance", relevance)
        relevance = None if relevance is None else float(relevance)
        self._set(url, lambda tx, key, now: edits.relevance(tx, key, relevance, self.policy, now), "set_relevance")

    def set_payout(self, url: str, payout: float | None) -> None:
        """What the virtual page pays a page, 0 or more; None: 1. Raises UnknownPage, BadInput."""
        if payout is not None and (not number(payout) or not 0 <= payout < 1e9):
            raise BadInput(f"payout must be 0 or more, not {payout!r}.")
        payout = None if payout is None else float(payout)
        self._set(url, lambda tx, key, now: edits.payout(tx, key, payout, self.policy, now), "set_payout")

    def set_value(self, url: str, value: float | None) -> None:
        """What a page is worth to the crawler, 0 or more; None: 1. It counts where the setting `value` is own.

        Raises UnknownPage, BadInput.
        """
        self._set_facts(url, {"value": _positive("value", value, 0.0, 1e12)})

    def set_rate(self, url: str, per_day: float | None) -> None:
        """How often a page changes, in changes a day, as good as 50 changes that were seen; None: forget what is known.

        What later visits find changes it. Raises UnknownPage, BadInput.
        """
        rate = _positive("a rate", per_day, 1e-6, 1e6)
        shape = None if rate is None else MOST_SHAPE
        self._set_facts(url, {"rate_shape": shape, "rate_scale": None if rate is None else MOST_SHAPE / rate})

    def set_interval(self, url: str, seconds: float | None) -> None:
        """Fetch a page every so many seconds, whatever it is worth, under every order; None: as the order says.

        The time runs from the last visit. Raises UnknownPage, BadInput.
        """
        every = _positive("an interval", seconds, 1.0, 1e9)
        self._set_facts(url, {"interval": None if every is None else every / DAY})

    def _set_facts(self, url: str, facts: dict[str, float | None]) -> None:
        self._set(url, lambda tx, key, now: edits.fact(tx, key, facts, self.policy, now), "set_facts")

    def _set(self, url: str, work: Callable[[Tx, str, float], None], name: str) -> None:
        """Set something of a page, named by URL or key. Raises UnknownPage."""
        key = self._key(url)
        try:
            self._correct(lambda tx, now: work(tx, key, now), name)
        except UnknownPage:
            raise UnknownPage(f"{url} is not in the graph.") from None

    def crawl_now(self, urls: Iterable[str]) -> list[bool]:
        """Hand these pages out before all others, whatever became of them; URLs that are not known become pages.

        True for each that will be fetched: not when scope or robots.txt forbid it, when it was forgotten for ever, or
        is no URL. Hosts' delays hold.
        """
        wanted: list[str | None] = []
        named: dict[str, str | None] = {}
        for url in urls:
            try:
                key, full = self._named(url)
                named[key] = full
                wanted.append(key)
            except BadInput:
                wanted.append(None)
        will: set[str] = set()
        keys = sorted(named)
        for start in range(0, len(keys), PASS_BATCH):
            part = {key: named[key] for key in keys[start : start + PASS_BATCH]}
            will |= self.graph.write(
                lambda tx, p=part: edits.ask(tx, p, self.policy, self.now()),  # type: ignore[misc]
                "crawl_now",
            )
        return [key in will for key in wanted]

    def clear(self, progress: Progress = lambda *_: None) -> None:
        """Delete all pages, links, hosts and counters; the brain and its settings stay.

        `progress` is told how many links and pages of how many are deleted.
        """
        pages, links, hosts = self.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
        total, done = pages + links + hosts, 0
        for statement in ("brain/clear_links", "brain/clear_nodes"):
            while deleted := self.graph.write(
                lambda tx, s=statement: tx.one(s, limit=10_000)[0],  # type: ignore[misc]
                statement,
            ):
                done += deleted
                progress(min(done, total), total)
        self.graph.write(self._cleared, "brain/change")
        self._reread()

    def _cleared(self, tx: Tx) -> None:
        """What was the scale of payouts is none for the pages to come: whoever tends finds a new one. What an import
        has left half done is gone, and what a settling pass was about."""
        stored = tx.one("brain/lock")[0]
        rule = Rule.of(stored)
        nobody = {**NOBODY_AT_WORK, "importing": brain_state.nobody_imports(stored)}
        fresh = {**NO_PRIORS, **NOTHING_COUNTED, **conversion.properties(rule, self.now())}
        tx.do("brain/change", settings={**nobody, "payout_pages": 0, **fresh})

    def remake(self, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too. Raises SettingsError when there are pages in it."""
        self._reread()
        if self.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
            raise SettingsError("Only an empty brain can be remade; clear it first.")
        wrong = sorted(set(settings) - set(Settings.names("shared", "fixed")))
        if wrong:
            raise SettingsError(unknown(wrong[0], Settings.names("shared", "fixed")))
        fresh = {**Settings.names("shared", "fixed"), "crawl": self.settings.crawl, **settings}
        changed = replace(self.settings, **fresh).checked()
        Scope.of(changed)
        self._schedule_of(changed)
        stored = {
            **fresh,
            **payout_policy.NOTHING_BENT,
            **NO_PRIORS,
            **NOTHING_COUNTED,
            "name": changed.crawl,
            **conversion.properties(Rule.of(fresh), self.now()),
        }
        other = changed.engine != self.settings.engine
        self.graph.write(lambda tx: tx.do("brain/change", settings=stored), "brain/change")
        if other:
            conversion.furnish(self.graph)
        self._reread()


def _positive(name: str, value: float | None, least: float, most: float) -> float | None:
    if value is not None and (not number(value) or not least <= value <= most):
        raise BadInput(f"{name} must be from {least:g} to {most:g}, not {value!r}.")
    return None if value is None else float(value)


def _within_one(name: str, value: float | None) -> None:
    if value is not None and (not number(value) or not 0 <= value <= 1):
        raise BadInput(f"{name} must be from 0 to 1, not {value!r}.")
