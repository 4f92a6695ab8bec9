"""Corrections by an operator: links, pages, relevance, payouts, settings. The transaction of a correction also repairs
the accounts. A setting that concerns every page is applied in batches, while other work continues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import EllipsisType
from typing import Any

from graphbrain.analyst.inspect import scan
from graphbrain.base.errors import BadInput, GraphTooSmall, SettingsError, UnknownPage
from graphbrain.base.model import number
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.options.pages import PAGE_VALUES, PageFilter
from graphbrain.base.options.verbs import HOST, OPERATORS, PAGE, PAGES, verb, within
from graphbrain.base.settings import Settings, changes, typed, unknown
from graphbrain.brain import engines
from graphbrain.brain.backfill import Progress
from graphbrain.brain.session import PASS_BATCH
from graphbrain.brain.topic import Topic
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
"""The brain's properties of a settling pass and of an import, with the values of none."""


class Editing(Topic):
    """The verbs that correct the crawl by hand."""

    @verb(OPERATORS, long=True, settings={"is_a": "shared settings", "example": {"delay_seconds": 2.0}})
    def change(self, progress: Progress = lambda *_: None, /, **settings: Any) -> None:
        """Change shared settings of the brain, for all who use it.

        Other open brains take them up with their next report or push, or within a second of claiming. The consequences
        of `eps`, `max_payees`, `order` or the scope are recomputed for every page, in batches, beside all other work.
        The same holds for payouts, and for what `pages_per_host` and `user_agent` mean to each host. While links get
        another weight (`intra_host_weight`), reports and pushes wait, and help. If this process dies, other processes
        continue with payouts, weights and hosts.

        Args:
            progress: Called with the number of finished pages, and of all.
            settings: The settings by name.

        Raises:
            SettingsError: A setting is wrong, or the engine pays all pages alike.
            BeingConverted: The brain is between two engines.
        """
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

    @verb(OPERATORS, source=PAGE, target={**PAGE, "example": "https://a.example/b"})
    def link(self, source: str, target: str) -> bool:
        """Record that one page links to another. False if there was such a link, which stays.

        Pages that are not known are created. If the target redirects for good, the link ends where it leads. Raises
        UnknownPage for an unknown page that is named by its key, and BadInput for a source that redirects: it has no
        links.
        """
        a, b = self._names.key_and_url(source), self._names.key_and_url(target)
        if a[0] == b[0]:
            raise BadInput("A link from a page to itself is ignored everywhere.")
        return self._session.perform_once("link", edits.link, a, b)

    @verb(OPERATORS, source=PAGE, target={**PAGE, "example": "https://a.example/b"})
    def unlink(self, source: str, target: str) -> bool:
        """Remove a link. False if there was none."""
        a, b = self._names.key(source), self._names.key(target)
        return self._session.perform_once("unlink", edits.unlink, a, b)

    @verb(OPERATORS, url=PAGE, for_ever={"example": False})
    def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page, its links and its account. Its aliases wait to be fetched again.

        Args:
            url: Its URL or key.
            for_ever: It never comes back, and only its key is kept.

        Returns:
            The number of links it had, or None when there was no such page.
        """
        key = self._names.key(url)
        links: int | None = self._session.graph.read(lambda tx: tx.one("links/count", key=key)[0], "links/count")
        self._session.exhaust("pages/retry", aliases.free_those_of, key)

        def forget(tx: Tx, policy: Policy, now: float) -> bool:
            return edits.forget(tx, key, for_ever, policy, now)

        self._session.exhaust("forget", forget)
        return links

    @verb(
        OPERATORS,
        wakes=True,
        items="urls",
        urls={**PAGES, "default": ()},
        host={**HOST, "example": None},
        state={"words": ("parked", "gone", "alias", "frontier", "known"), "example": None},
    )
    def retry(self, *urls: str, host: str | None = None, state: str | None = None) -> int:
        """Let pages wait at once, as if they had never failed: pages that were given up (parked, gone), aliases, and
        pages that wait to be tried again.

        Those that were fetched before are claimed before all others. A page outside the scope goes outside.

        Args:
            urls: The pages, named by URL or key.
            host: All such pages of a host.
            state: All such pages of a state, of `host` where both are given: "parked", "gone", "alias", or "frontier"
                and "known" for those that wait to be tried again.

        Returns:
            The number of pages.

        Raises:
            UnknownPage: A page is not in the graph.
            BadInput: Nothing is named.
        """
        if not urls and host is None and state is None:
            raise BadInput("Name the pages that are to be tried again: by URLs, a host, a state.")
        if urls and (host is not None or state is not None):
            raise BadInput("Give either URLs, or a host and a state.")
        self._session.refresh()
        # Find the pages that are named, or all given-up and waiting ones that fit.
        if urls:
            keys = [self._names.key_in_graph(url) for url in urls]
            ids: Iterable[int] = self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find").values()
        else:
            wanted = scan.Wanted.of(PageFilter(state=state), self._names.host_or_none(host))
            fitting = scan.wanted_pages(self._session.graph, wanted, lambda *_: None)
            ids = (page.id for page in fitting if page.state in GIVEN_UP or page.not_before is not None)
        # Let them wait again, in batches.
        retried, rest = 0, iter(ids)
        while part := list(islice(rest, PASS_BATCH)):
            retried += self._session.perform("pages/retry", orphans.retry, part)
        return retried

    @verb(
        OPERATORS,
        url=PAGE,
        value=within(PAGE_VALUES["value"], 3.5),
        rate=within(PAGE_VALUES["rate"], 0.5),
        interval=within(PAGE_VALUES["interval"], 3_600),
        relevance=within(PAGE_VALUES["relevance"], 0.9),
        payout=within(PAGE_VALUES["payout"], 2.0),
    )
    def set_page(
        self,
        url: str,
        *,
        value: float | EllipsisType | None = ...,
        rate: float | EllipsisType | None = ...,
        interval: float | EllipsisType | None = ...,
        relevance: float | EllipsisType | None = ...,
        payout: float | EllipsisType | None = ...,
    ) -> None:
        """Set values of a page, in one transaction. An argument that is not given stays as it is.

        Args:
            url: Its URL or key.
            value: Its worth to the crawler, 0 or more; None: 1. It counts where the setting `value` is own.
            rate: How often it changes, in changes a day; None: forget what is known. It weighs as much as 50 changes
                that were seen, and later visits change it.
            interval: Fetch it every so many seconds, whatever it is worth, under every order; None: as the order
                decides. The time runs from the last visit.
            relevance: How close it is to the topic, 0 to 1; None: not known (½).
            payout: The amount that the virtual page pays it, 0 or more; None: 1.

        Raises:
            UnknownPage: It is not in the graph.
            BadInput: A value is out of range, none is given, or the engine pays all pages alike.
        """
        named = {"value": value, "rate": rate, "interval": interval, "relevance": relevance, "payout": payout}
        given = {name: each for name, each in named.items() if not isinstance(each, EllipsisType)}
        if not given:
            raise BadInput("Give what is to be set: value, rate, interval, relevance or payout.")
        key, properties = self._names.key(url), _properties(given)
        try:
            self._session.perform("set_page", edits.page, key, properties)
        except UnknownPage:
            raise UnknownPage(f"{url} is not in the graph.") from None

    @verb(OPERATORS, long=True)
    def forget_relevance(self, progress: Progress = lambda *_: None) -> int:
        """Forget the known and the guessed relevance of all pages. Return the number of pages that had any.

        `progress` is called with the number of finished pages, and of all.
        """
        self._session.refresh()
        engines.of(self._session.policy.rule)
        pages = self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes")
        forgotten = done = 0
        for ids, _ in self._session.by_key():
            forgotten += self._session.perform("forget_relevance", edits.forget_relevance, ids)
            done += len(ids)
            progress(min(done, pages), pages)
        return forgotten

    @verb(OPERATORS, "parked", items="urls", urls=PAGES)
    def park(self, *urls: str) -> list[bool]:
        """Do not fetch these pages (URLs or keys) until `retry`, `crawl_now` or `seed` names them, or a visit is
        reported.

        Returns:
            True for each that is parked now; False for one that is held, redirects, or is outside.

        Raises:
            UnknownPage: A page is not in the graph.
        """
        self._session.refresh()
        keys = [self._names.key_in_graph(url) for url in urls]
        ids = self._session.graph.read(lambda tx: discovery.find(tx, keys), "pages/find")
        parked: set[int] = set()
        rest = iter(sorted(set(ids.values())))
        while part := list(islice(rest, PASS_BATCH)):
            parked.update(self._session.perform("pages/park", orphans.park, part))
        return [ids.get(key) in parked for key in keys]

    @verb(OPERATORS)
    def pause(self) -> bool:
        """Let no page be claimed until `resume`. False if the brain is paused already.

        Other processes take it up within a second. `next_urls` waits as if nothing could be claimed; its answer is
        `paused` and not `finished`. All else goes on; claims that are out stay good.
        """
        return self._paused(True)

    @verb(OPERATORS, wakes=True)
    def resume(self) -> bool:
        """Let pages be claimed again. False if the brain was not paused."""
        return self._paused(False)

    def _paused(self, wanted: bool) -> bool:
        done = self._session.perform_once("brain/note", _pause, wanted)
        self._session.refresh()
        return done

    def _delete_all(self, progress: Progress) -> None:
        """Delete everything but the brain."""
        pages, links, hosts = self._session.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
        total, done = pages + links + hosts, 0
        for statement in ("brain/clear_links", "brain/clear_nodes"):
            for deleted in self._cleared_by(statement):
                done += deleted
                progress(min(done, total), total)
        self._session.perform("brain/change", _cleared)
        self._session.refresh()

    def _cleared_by(self, statement: str) -> Iterator[int]:
        """Delete everything that this statement deletes, and yield the number of items of each transaction. If the
        server's memory is too small for a transaction, the next ones delete fewer items."""
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

    @verb(OPERATORS, also={409: "The brain has pages."}, settings={"is_a": "settings", "example": {"order": "optimal"}})
    def remake(self, /, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too. Raises SettingsError when there are pages in it."""
        self._session.refresh()
        if self._session.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
            raise SettingsError("Only an empty brain can be remade; clear it first.")
        # Check the settings by name and value.
        wrong = sorted(set(settings) - set(Settings.names("shared", "fixed")))
        if wrong:
            raise SettingsError(unknown(wrong[0], Settings.names("shared", "fixed")))
        settings = {name: typed(name, value) for name, value in settings.items()}
        fresh = {**Settings.names("shared", "fixed"), "crawl": self._session.settings.crawl, **settings}
        changed = self._session.changed(fresh)
        # Reset all that was learned or counted under the old settings.
        stored = {
            **fresh,
            **payout_policy.NOTHING_BENT,
            **NO_PRIORS,
            **NOTHING_COUNTED,
            **NO_TIME,
            "name": changed.crawl,
            **conversion.properties(Rule.of(fresh), self._session.now()),
        }
        is_other_engine = changed.engine != self._session.settings.engine
        self._session.graph.write(lambda tx: tx.do("brain/change", settings=stored), "brain/change")
        # Another engine needs other indexes.
        if is_other_engine:
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
    """Reset the brain's properties that depended on the deleted pages. Upkeep will find a new scale of payouts. The
    notes on an unfinished import and on a settling pass are removed."""
    rule = Rule.of(tx.one("brain/lock")[0])
    fresh = {**NO_PRIORS, **NOTHING_COUNTED, **NO_TIME, **conversion.properties(rule, now)}
    tx.do("brain/change", settings={**NOBODY_AT_WORK, "payout_pages": 0, **fresh})


def _properties(given: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the properties of a page that hold these values. Raise BadInput for a value that is out of range."""
    # Check the values.
    properties: dict[str, float | None] = {}
    for name, value in given.items():
        bounds = PAGE_VALUES[name]
        if value is not None and not (number(value) and bounds.hold(value)):
            raise BadInput(f"{name} must be {bounds}, not {value!r}.")
        properties[name] = None if value is None else float(value)
    # A rate is stored as a belief, and an interval in days.
    if "rate" in properties:
        rate = properties.pop("rate")
        properties |= {"rate_shape": rate and MOST_SHAPE, "rate_scale": rate and MOST_SHAPE / rate}
    if "interval" in properties:
        properties["interval"] = properties["interval"] and properties["interval"] / DAY
    return properties
