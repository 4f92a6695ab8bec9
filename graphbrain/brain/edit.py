"""Corrections by hand: links, pages, relevance, payouts, settings. Accounts are repaired in the same transaction, or,
where a setting changes for every page, in batches beside all other work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from graphbrain.analyst.inspect import scan
from graphbrain.base.errors import BadInput, GraphTooSmall, SettingsError, UnknownPage
from graphbrain.base.model import number
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.options.pages import PAGE_VALUES, PageFilter
from graphbrain.base.settings import Settings, changes, typed, unknown
from graphbrain.brain import engines
from graphbrain.brain.backfill import Backfill, Progress
from graphbrain.brain.names import Names
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.frontier import discovery
from graphbrain.frontier.corrections import aliases, edits, orphans
from graphbrain.frontier.corrections.put_right import NO_TIME
from graphbrain.frontier.hosts import admin
from graphbrain.frontier.hosts.politeness import NOTHING_COUNTED
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx
from graphbrain.schedule.change_rate import MOST_SHAPE
from graphbrain.schedule.priors import NO_PRIORS
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts import conversion, payout_policy

__all__ = ["Editing"]

GIVEN_UP = ("parked", "gone", "alias")
CLEARED_AT_ONCE = 10_000
NOBODY_AT_WORK = {"settling": None, "settling_until": None, "importing": None}
"""The properties of the processes that settle all accounts or import files, absent."""


class Editing:
    """The verbs that correct the crawl by hand."""

    def __init__(self, session: Session, names: Names, backfill: Backfill) -> None:
        self._session, self._names, self._backfill = session, names, backfill

    def change(self, progress: Progress = lambda *_: None, /, **settings: Any) -> None:
        """Change shared settings, as `Brain.change` describes."""
        settings = changes(settings)
        self._session.refresh()
        engines.of(self._session.policy.rule)
        changed = self._session.changed(settings)
        if changed.pages_per_host > 0 or self._session.settings.pages_per_host > 0:
            self._backfill.count_budgets()
        notes = {"reviewing_hosts": ""} if admin.REVIEWING & set(settings) else {}
        if settings.get("sections_per_host"):
            notes |= {"relearning": ""}
        self._session.graph.write(lambda tx: payout_policy.change(tx, settings, notes), "brain/change")
        self._session.refresh()
        self._backfill.finish(progress)

    def link(self, source: str, target: str) -> bool:
        """Add a link, as `Brain.link` describes."""
        a, b = self._names.key_and_url(source), self._names.key_and_url(target)
        if a[0] == b[0]:
            raise BadInput("A link from a page to itself is ignored everywhere.")
        return self._session.perform_once("link", edits.link, a, b)

    def unlink(self, source: str, target: str) -> bool:
        """Remove a link, as `Brain.unlink` describes."""
        a, b = self._names.key(source), self._names.key(target)
        return self._session.perform_once("unlink", edits.unlink, a, b)

    def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page, as `Brain.forget` describes."""
        key = self._names.key(url)
        links: int | None = self._session.graph.read(lambda tx: tx.one("links/count", key=key)[0], "links/count")
        self._session.exhaust("pages/retry", aliases.free_those_of, key)

        def forget(tx: Tx, policy: Policy, now: float) -> bool:
            return edits.forget(tx, key, for_ever, policy, now)

        self._session.exhaust("forget", forget)
        return links

    def retry(self, *urls: str, host: str | None = None, state: str | None = None) -> int:
        """Let pages wait at once, as `Brain.retry` describes."""
        if not urls and host is None and state is None:
            raise BadInput("Name the pages that are to be tried again: by URLs, a host, a state.")
        if urls and (host is not None or state is not None):
            raise BadInput("Give either URLs, or a host and a state.")
        self._session.refresh()
        if urls:
            keys = [self._names.known(url) for url in urls]
            ids: Iterable[int] = self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find").values()
        else:
            wanted = scan.Wanted.of(PageFilter(state=state), self._names.host_or_none(host))
            fitting = scan.wanted_pages(self._session.graph, wanted, lambda *_: None)
            ids = (page.id for page in fitting if page.state in GIVEN_UP or page.not_before is not None)
        done, rest = 0, iter(ids)
        while part := list(islice(rest, PASS_BATCH)):
            done += self._session.perform("pages/retry", orphans.retry, part)
        return done

    def set_page(self, url: str, given: Mapping[str, float | None]) -> None:
        """Set values of a page, as `Brain.set_page` describes."""
        if not given:
            raise BadInput("Give what is to be set: value, rate, interval, relevance or payout.")
        key, properties = self._names.key(url), _properties(given)
        try:
            self._session.perform("set_page", edits.page, key, properties)
        except UnknownPage:
            raise UnknownPage(f"{url} is not in the graph.") from None

    def forget_relevance(self, progress: Progress) -> int:
        """Forget the relevance of all pages, as `Brain.forget_relevance` describes."""
        self._session.refresh()
        engines.of(self._session.policy.rule)
        pages = self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        forgotten = done = 0
        for ids, _ in self._session.by_key():
            forgotten += self._session.perform("forget_relevance", edits.forget_relevance, ids)
            done += len(ids)
            progress(min(done, pages), pages)
        return forgotten

    def park(self, *urls: str) -> list[bool]:
        """Give pages up, as `Brain.park` describes."""
        self._session.refresh()
        keys = [self._names.known(url) for url in urls]
        ids = self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find")
        parked: set[int] = set()
        rest = iter(sorted(set(ids.values())))
        while part := list(islice(rest, PASS_BATCH)):
            parked.update(self._session.perform("pages/park", orphans.park, part))
        return [ids.get(key) in parked for key in keys]

    def pause(self) -> bool:
        """Pause claims, as `Brain.pause` describes."""
        return self._paused(True)

    def resume(self) -> bool:
        """Resume claims, as `Brain.resume` describes."""
        return self._paused(False)

    def _paused(self, wanted: bool) -> bool:
        done = self._session.perform_once("brain/note", _pause, wanted)
        self._session.refresh()
        return done

    def clear(self, progress: Progress) -> None:
        """Delete everything but the brain, as `Brain.clear` describes."""
        pages, links, hosts = self._session.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
        total, done = pages + links + hosts, 0
        for statement in ("brain/clear_links", "brain/clear_nodes"):
            for deleted in self._cleared_by(statement):
                done += deleted
                progress(min(done, total), total)
        self._session.perform("brain/change", _cleared)
        self._session.refresh()

    def _cleared_by(self, statement: str) -> Iterator[int]:
        """Delete all that this statement deletes, and yield the number of each transaction. The transactions get
        smaller where nodes are so large that the server's memory does not hold many."""
        limit = CLEARED_AT_ONCE
        while True:
            try:
                deleted = self._session.perform(statement, _clear_some, statement, limit)
            except GraphTooSmall:
                if limit == 1:
                    raise
                limit = max(1, limit // 10)
                continue
            if not deleted:
                return
            yield deleted

    def remake(self, /, **settings: Any) -> None:
        """Give an empty brain new settings, as `Brain.remake` describes."""
        self._session.refresh()
        if self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
            raise SettingsError("Only an empty brain can be remade; clear it first.")
        wrong = sorted(set(settings) - set(Settings.names("shared", "fixed")))
        if wrong:
            raise SettingsError(unknown(wrong[0], Settings.names("shared", "fixed")))
        settings = {name: typed(name, value) for name, value in settings.items()}
        fresh = {**Settings.names("shared", "fixed"), "crawl": self._session.settings.crawl, **settings}
        changed = self._session.changed(fresh)
        stored = {
            **fresh,
            **payout_policy.NOTHING_BENT,
            **NO_PRIORS,
            **NOTHING_COUNTED,
            **NO_TIME,
            "name": changed.crawl,
            **conversion.properties(Rule.of(fresh), self._session.now()),
        }
        other = changed.engine != self._session.settings.engine
        self._session.graph.write(lambda tx: tx.do("brain/change", settings=stored), "brain/change")
        if other:
            conversion.furnish(self._session.graph)
        self._session.refresh()


def _pause(tx: Tx, wanted: bool, _policy: Policy, now: float) -> bool:
    if (tx.one("brain/lock")[0].get("paused") is not None) == wanted:
        return False
    tx.do("brain/note", notes={"paused": now if wanted else None})
    return True


def _clear_some(tx: Tx, statement: str, limit: int, _policy: Policy, _now: float) -> int:
    cleared: int = tx.one(statement, limit=limit)[0]
    return cleared


def _cleared(tx: Tx, _policy: Policy, now: float) -> None:
    """Reset what depended on the deleted pages. The scale of payouts is not known for the pages to come, and upkeep
    finds a new one. An import that was left half done is gone, and so is a settling pass."""
    rule = Rule.of(tx.one("brain/lock")[0])
    fresh = {**NO_PRIORS, **NOTHING_COUNTED, **NO_TIME, **conversion.properties(rule, now)}
    tx.do("brain/change", settings={**NOBODY_AT_WORK, "payout_pages": 0, **fresh})


def _properties(given: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the properties of a page that these values are. Raise BadInput for one that is out of range."""
    properties: dict[str, float | None] = {}
    for name, value in given.items():
        bounds = PAGE_VALUES[name]
        if value is not None and not (number(value) and bounds.hold(value)):
            raise BadInput(f"{name} must be {bounds}, not {value!r}.")
        properties[name] = None if value is None else float(value)
    if "rate" in properties:
        rate = properties.pop("rate")
        properties |= {"rate_shape": rate and MOST_SHAPE, "rate_scale": rate and MOST_SHAPE / rate}
    if "interval" in properties:
        properties["interval"] = properties["interval"] and properties["interval"] / DAY
    return properties
