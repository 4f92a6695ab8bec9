"""The whole: a crawler's verbs over the nouns. Only this module knows how the topics meet.

Each call is one transaction, or a row of them, each safe to run again; every call may be made from any thread and any
process. What follows from a report, the spreading of cash, is done by `tend`: by `graphbrain work` processes where
there are any, and otherwise by the brain itself, a little after each report, so that a single script need not care.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, Self

from graphbrain.accounts.settlement import SETTLED_TO
from graphbrain.brain import open as opening
from graphbrain.brain.analyse import Analysing, Asking
from graphbrain.brain.backfill import Backfill, Progress
from graphbrain.brain.claim import Claiming
from graphbrain.brain.convert import Converting
from graphbrain.brain.discover import Discovering
from graphbrain.brain.edit import Editing
from graphbrain.brain.engines import Engine
from graphbrain.brain.hosts import COUNTED, Hosting
from graphbrain.brain.leases import Leases
from graphbrain.brain.look import Looking
from graphbrain.brain.names import Names
from graphbrain.brain.note import Noting
from graphbrain.brain.push import Pushing
from graphbrain.brain.rank import RankProgress, Scoring
from graphbrain.brain.rekey import Rekeying
from graphbrain.brain.report import Reporting
from graphbrain.brain.session import Session
from graphbrain.brain.settle import Settling
from graphbrain.brain.upkeep import PUSH_PAYMENTS, Upkeep
from graphbrain.errors import GraphbrainError
from graphbrain.frontier.rekey import Rekeyed
from graphbrain.frontier.verdicts import Policy
from graphbrain.graph.connection import Clock, Graph
from graphbrain.inspect import figures
from graphbrain.inspect.audit import Audit
from graphbrain.model import (
    Answer,
    AnyReport,
    Claim,
    Claims,
    Hint,
    Hinted,
    Host,
    KnownLink,
    LinkedPage,
    Page,
    Payments,
    RobotsAnswer,
    Section,
    SeedAnswer,
    Seen,
)
from graphbrain.schedule.value import Estimator
from graphbrain.settings import Settings
from graphbrain.work import Ranking, Settled, Tended

__all__ = ["Brain", "Combined"]


class Combined:
    """The verbs `next_urls` and `report` of one brain for callers that have no thread to wait in, as an event loop."""

    def __init__(self, claiming: Claiming, reporting: Reporting) -> None:
        self.next_urls = claiming.soon
        self.report = reporting.soon
        self.alone = reporting.alone


class Brain(Asking):
    """One crawl's brain. Open it with `Brain.open`; close it, or use it as a context manager.

    `session`: what all verbs stand on. `combined`: claims and reports for callers that have no thread to wait in.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        names, backfill, leases = Names(session), Backfill(session), Leases(session)
        session.graph.on_outdated = backfill.overtaken
        pushing, self._settling = Pushing(session), Settling(session)
        self._upkeep = Upkeep(session, names, backfill, leases, pushing, self._settling)
        self._discovering = Discovering(session, names)
        self._claiming = Claiming(session, names, leases, backfill)
        self._reporting = Reporting(session, names, self._upkeep)
        self.combined = Combined(self._claiming, self._reporting)
        self._noting = Noting(session, names)
        self._looking = Looking(session, names)
        self._scoring = Scoring(session, names, backfill)
        self._editing = Editing(session, names, backfill)
        self._hosting = Hosting(session, names, backfill)
        self._converting, self._rekeying = Converting(session, backfill), Rekeying(session, backfill)
        self._analysing = Analysing(session, self._looking, self._hosting)

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
    ) -> Self:
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
        session = opening.session(
            given, create=create, clock=clock, estimator=estimator, as_it_is=as_it_is, to_rekey=to_rekey
        )
        try:
            brain = cls(session)
            if not (as_it_is or to_rekey):
                from_environment = {name for name in given.given if settings.get(name) is None}
                if changes := opening.changes(session, given, from_environment):
                    brain.change(**changes)
                opening.renew_lanes(session)
        except BaseException:
            session.graph.close()
            raise
        return brain

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the counters and let the connection go. Claims stay held until they lapse: give them back first."""
        self._claiming.close()
        self._reporting.close()
        with contextlib.suppress(GraphbrainError):
            self.session.counters.write()
        self.graph.close()

    @property
    def graph(self) -> Graph:
        """The connection to the database."""
        return self.session.graph

    @property
    def settings(self) -> Settings:
        """The settings that hold now, as last read."""
        return self.session.settings

    @property
    def policy(self) -> Policy:
        """What follows from the settings for pages, hosts and accounts."""
        return self.session.policy

    @property
    def engine(self) -> Engine:
        """How the accounts are kept. Raises BeingConverted while the brain is between two engines."""
        return self.session.engine

    def now(self) -> float:
        """Epoch seconds by the server's clock."""
        return self.session.now()

    # ------------------------------------------------------------ crawlers

    def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages of these URLs, where the crawl begins; known pages become seeds. Bad URLs are refused by item.

        A page that was given up waits again, as by `retry`. The answer tells which will not be fetched, and why.
        """
        return self._discovering.seed(urls)

    def hint(self, hints: Iterable[Hint | str]) -> list[Hinted]:
        """Take word that pages have changed; a bare URL or key is a ping. One answer for each, in their order.

        A page that nobody knew is created, one click away from where the crawl begins, if it is named by its URL. One
        that was fetched waits as if it had not been seen for longer (settings `hint_recall`, `hint_false`), once for
        each hint that is newer than its last visit and its last hint.
        """
        return self._discovering.hint(hints)

    def report(self, items: Sequence[AnyReport]) -> list[Answer]:
        """Record visits; one answer for each, in their order. Of each page all is recorded, or nothing.

        The claim of a visit that is refused for what it says, or has not, ends: its page has failed, and waits as such.
        What came of the claim of a robots.txt is told as a `Resource`: its rules hold from then on.
        """
        return self._reporting.report(items)

    def next_urls(
        self,
        n: int = 100,
        *,
        worker: str | None = None,
        wait: float = 0.0,
        key: str | None = None,
        now_only: bool = False,
        kinds: Iterable[str] | None = None,
    ) -> Claims:
        """Claim up to `n` pages, best first; wait up to `wait` seconds for the first of them.

        `now_only`: only pages that were asked for by `crawl_now` and have not been visited since. `kinds`: `("page",
        "robots")` also hands out each robots.txt that is not known, or is 20 hours old, before the pages it is about.
        `finished` and `next_ready` are of these then.

        `key`: made by the caller, a new one for each call. Called again by the same, since the answer was lost, it
        answers the claims that were made the first time, as far as they are still held, and makes no others.

        When there are fewer than asked, the answer says when the next will be ready and whether the crawl is finished.
        That may be at once: pages that others got first are made up for only where a fifth of the claims would be
        missing, and where very many pages of hosts that are not ready stand in the way, a quarter is enough. Where they
        stand before all others, a call may take a second to move them out of the way.
        """
        return self._claiming.next_urls(n, worker=worker, wait=wait, key=key, now_only=now_only, kinds=kinds)

    def renew(self, held: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims for `seconds` from now (the lease's length by default); None for each that is lost.

        Raises BadInput for more than a week: nobody else could have the pages of whoever dies.
        """
        return self._claiming.renew(held, seconds)

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched: their pages wait again where they were. False for each that was lost before."""
        return self._claiming.give_back(held)

    def crawl_now(self, urls: Iterable[str]) -> list[bool]:
        """Hand these pages out before all others, whatever became of them; URLs that are not known become pages.

        True for each that will be fetched: not when scope or robots.txt forbid it, when it was forgotten for ever, or
        is no URL. Hosts' delays hold.
        """
        return self._discovering.crawl_now(urls)

    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages (URL or key → text), known or to come.

        The first note on a page stands until the page is forgotten. Written before the page is reported as a link, or
        seeded, it is there whenever the page is claimed. The answer says why of each that was refused.
        """
        return self._noting.note(texts)

    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """The notes on these pages (claims, URLs or keys), by key; a page without one is not in the answer."""
        return self._noting.notes(pages)

    # ------------------------------------------------------------ upkeep

    def tend(
        self,
        seconds: float | None = 1.0,
        *,
        pages: Iterable[str] | None = None,
        batch: int = PUSH_PAYMENTS,
        for_everybody: bool = False,
        passes: bool = True,
        pushes: int | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Tended:
        """Upkeep for at most `seconds` (None: until settled): lapsed leases, retries, depths, and pushes of cash.

        First it goes on with what a change of settings has left to be done. The classic engine is settled when all
        cash was spent `passes` times over (a setting) since the last change. Where the error bound is above
        `settled_bound` then, who tends until all is settled, and workers once a minute at most, make a settling pass,
        if the graph fits in this process's memory.

        `pages`: push the sides of these (URLs or keys) on which more than `eps` waits, instead of the most urgent.
        `batch`: payments of one transaction; short ones let claims through. `for_everybody`: tell the other users of
        this brain that it is tended, as `graphbrain work` does. `passes`: workers, and whoever tends until all is
        settled, make a settling pass first where that is cheaper. `pushes`: end with the transaction in which so many
        are reached. `stop` is asked between transactions.

        Raises BeingConverted between two engines.
        """
        return self._upkeep.tend(
            seconds,
            pages=pages,
            batch=batch,
            for_everybody=for_everybody,
            passes=passes,
            pushes=pushes,
            stop=stop,
        )

    def settle(
        self,
        *,
        tolerance: float = SETTLED_TO,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] = lambda *_: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """Bring all accounts to their fixed point at once, beside whatever else runs (DESIGN §5.1, "settling pass").

        Pages that change meanwhile are left to pushes. `tolerance`: the error bound that is left, where
        nothing changes meanwhile. `if_cheaper`: do nothing where pushes are cheaper; so `tend` does it by itself.
        `progress`: called with what is being done (export, solve, write), how far it is, and of how much. `stop` is
        asked between transactions; what is written by then stays and is right. Nothing is done either while another
        pass is under way. Raises BadInput under the classic engine.
        """
        self.session.refresh()
        return self._settling.settle(tolerance=tolerance, if_cheaper=if_cheaper, progress=progress, stop=stop)

    # ------------------------------------------------------------ looking

    def page(self, url: str) -> Page:
        """Everything about one page, named by URL or key. Raises UnknownPage."""
        return self._looking.page(url)

    def top(self, n: int = 10, by: str = "authority") -> list[Page]:
        """The `n` pages of highest score, best first: `by` authority, hub, a batch score (pagerank, hits_hub, …), or by
        relevance or value, as far as they are known.

        Only authority and hub have an index: by the others every page is read. Raises BadInput, also when no page has
        that score.
        """
        return self._looking.top(n, by)

    def payments(self, url: str, n: int = 5) -> Payments:
        """Why a page has its scores: the `n` largest payers and payees of both its sides. Raises UnknownPage.

        The classic engine does not remember who paid whom: there are none.
        """
        return self._looking.payments(url, n)

    def links(self, url: str, way: str = "out", limit: int | None = None) -> Iterator[LinkedPage]:
        """The pages a page links to (`way` "out"), or those that link to it ("in"), the best `limit` of them first.

        Best is by authority for the targets of links and by hub for their sources: what the links pay. They are read
        as they are asked for. Raises UnknownPage.
        """
        return self._looking.links(url, way, limit)

    def path(self, url: str, other: str | None = None) -> list[LinkedPage]:
        """A shortest way along links from one page to another; with one page only, from any seed to it.

        Both ends are in it; it is empty when there is none of at most 1000 links. Raises UnknownPage.
        """
        return self._looking.path(url, other)

    def find(
        self,
        text: str = "",
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        min_score: float | None = None,
        by: str = "authority",
        limit: int | None = None,
    ) -> Iterator[Page]:
        """The pages that fit all that is given, read as they are asked for.

        `text`: a part of the URL; `regex`: a regular expression found in it; `min_score`: the least score `by`
        authority, hub, a batch score (pagerank, hits_hub, …), relevance or value. From a `min_score` of 32 by authority
        or hub on an index is used and the best come first; a `host` has an index, too; else every page is read, in the
        order of the store; so it is with every `min_score` under the classic engine, whose scores are shares. Raises
        BadInput, also
        when no page carries that score.
        """
        return self._looking.find(
            text, regex=regex, host=host, state=state, fetched=fetched, min_score=min_score, by=by, limit=limit
        )

    def dump_pages(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        progress: Progress = lambda *_: None,
    ) -> Iterator[Page]:
        """All pages that fit, in the order of the store, read in small parts: memory stays bounded.

        Pages that come or go meanwhile may be in it or not. `progress` is told how many of how many ids are done.
        """
        return self._looking.dump_pages(regex=regex, host=host, state=state, fetched=fetched, progress=progress)

    def dump_links(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        between_hosts: bool = False,
        progress: Progress = lambda *_: None,
    ) -> Iterator[KnownLink]:
        """All links of the pages that fit, like `dump_pages`; `between_hosts`: only those to another host."""
        return self._looking.dump_links(
            regex=regex, host=host, state=state, fetched=fetched, between_hosts=between_hosts, progress=progress
        )

    def frame(self, table: str, kind: str = "arrow") -> Any:
        """All `pages`, `links` or `hosts` as a table in memory: `arrow`, `pandas` or `polars`, by the extra `tables`;
        larger crawls are for `graphbrain dump tables`. Raises BadInput."""
        return self._looking.frame(table, kind)

    def neighbours(self, url: str) -> tuple[list[str], list[str]]:
        """The URLs a page links to, and those that link to it. Raises UnknownPage."""
        return self._looking.neighbours(url)

    def stats(self) -> dict[str, Any]:
        """How much there is, in which state, and what was done. Reads every page: for people, not for loops."""
        return self._looking.stats()

    def scan_figures(self, stop: Callable[[], bool] = lambda: False) -> tuple[figures.Scanned, float | None]:
        """What metrics sample now and then, and the error bound, None where there is none. Reads every page, in parts;
        `stop` is asked between them. Raises figures.Stopped."""
        return self._looking.scan_figures(stop)

    def audit(self, sample: int | None = 1000, progress: Progress = lambda *_: None) -> Audit:
        """Recompute accounts from their neighbours and check leases, queues and marks; `sample` None: every page."""
        return self._looking.audit(sample, progress)

    # ------------------------------------------------------------ batch scores

    def rank(
        self,
        method: str,
        *,
        damping: float | None = None,
        tolerance: float | None = None,
        iterations: int | None = None,
        only_external: bool = False,
        content: bool = False,
        trusted: Iterable[str] | None = None,
        top: int = 10,
        write: bool = True,
        warm: bool = False,
        progress: RankProgress = lambda *_: None,
    ) -> Ranking:
        """Score all pages by `method` and write the scores back to them.

        `method`: hits, pagerank, personalised (restart by relevance), trustrank (restart at the seeds, or at the
        URLs `trusted`), salsa, opic. `damping` (.85): of pagerank and its kin. `tolerance` (1e-9): the error, in
        sum over all pages, that will do; the answer says whether it was reached (`converged`). `iterations` (10000):
        at most so many. `only_external`: leave out links inside a host. `content`: relevance weighs the authorities
        of hits. `top`: how many of the best are named. `write` False: only compute. `warm`: begin with the scores that
        the pages carry, which takes fewer iterations where little has changed. Reports go on meanwhile; pages
        they bring are left out. An interruption while it writes leaves scores that are partly old, and `rankings`
        says so. Where the order goes by these scores (the setting `value`), pages change lanes; if that is broken
        off, `tend` goes on with it. Raises BadInput, UnknownPage.
        """
        return self._scoring.rank(
            method,
            damping=damping,
            tolerance=tolerance,
            iterations=iterations,
            only_external=only_external,
            content=content,
            trusted=trusted,
            top=top,
            write=write,
            warm=warm,
            progress=progress,
        )

    def rank_if_due(
        self,
        method: str,
        every: float = 3_600.0,
        *,
        progress: RankProgress = lambda *_: None,
    ) -> Ranking | None:
        """Score all pages anew, if the scores of this method are as old as `every` seconds and nobody else is at it.

        So `graphbrain work --rank` keeps them fresh, with as many workers as there are. It takes the parameters of the
        last ranking by this method, and begins with its scores. None when there was nothing to do. If whoever ranks
        dies, another begins within two minutes, or ten where he was writing. Raises BadInput.
        """
        return self._scoring.rank_if_due(method, every, progress=progress)

    def rankings(self) -> list[Ranking]:
        """Which batch scores the pages carry, and how they were computed; the latest first."""
        return self._scoring.rankings()

    # ------------------------------------------------------------ corrections

    def change(self, progress: Progress = lambda *_: None, /, **settings: Any) -> None:
        """Change shared settings of the brain, for all who use it.

        Other open brains take them up with their next report or push, or within a second of claiming. What follows
        from `eps`, `max_payees`, `order` or the scope is recomputed for every page, in batches, beside whatever else
        runs; so are payouts, and what `pages_per_host` and `user_agent` mean to each host. While links get another
        weight (`intra_host_weight`), reports and pushes wait, and help. If this process dies, whoever comes next goes
        on with payouts, weights and hosts. `progress` is told how many of how many pages have theirs. Raises
        SettingsError, also when the engine pays all pages alike, and BeingConverted between two engines.
        """
        self._editing.change(progress, **settings)

    def link(self, source: str, target: str) -> bool:
        """Say that one page links to another; a link that is there stays: then it is False.

        Pages that are not known are created, but for one that is named by its key: then it raises UnknownPage.
        """
        return self._editing.link(source, target)

    def unlink(self, source: str, target: str) -> bool:
        """Remove a link; nothing happens when it is not there: then it is False."""
        return self._editing.unlink(source, target)

    def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page, its links and its account; `for_ever`: it never comes back, only its key is kept.

        Its aliases wait to be fetched again. The answer is how many links it had, or None when there was no such page.
        """
        return self._editing.forget(url, for_ever)

    def retry(self, *urls: str, host: str | None = None, state: str | None = None) -> int:
        """Let pages that were given up (parked, gone), redirect (aliases) or have failed wait at once as if they never
        had; how many.

        Named pages, or all of a `host`, a `state` ("parked", "gone", "alias", or "frontier" and "known" for those that
        wait to be tried again), or both. Those that were fetched before are handed out before all others. A page
        outside the scope goes outside. Raises UnknownPage, and BadInput when nothing is named.
        """
        return self._editing.retry(*urls, host=host, state=state)

    def forget_relevance(self, progress: Progress = lambda *_: None) -> int:
        """Forget what is known or guessed of the relevance of all pages; of how many something was. `progress` is told
        how many of how many pages are done."""
        return self._editing.forget_relevance(progress)

    def park(self, *urls: str) -> list[bool]:
        """Fetch these pages (URLs or keys) no more until `retry`, `crawl_now` or `seed` names them, or somebody reports
        a visit; whether each is parked now: not one that is held, redirects, or is outside. Raises UnknownPage."""
        return self._editing.park(*urls)

    def pause(self) -> bool:
        """Hand out no pages to anybody until `resume`; False if it is so already.

        Other processes take it up within a second. `next_urls` waits as if nothing could be claimed; its answer is
        `paused` and not `finished`. All else goes on; claims that are out stay good.
        """
        return self._editing.pause()

    def resume(self) -> bool:
        """Hand out pages again; False if they were handed out."""
        return self._editing.resume()

    def set_relevance(self, url: str, relevance: float | None) -> None:
        """How near a page is to the topic, 0..1; None: not known (½). Raises UnknownPage, BadInput."""
        self._editing.set_relevance(url, relevance)

    def set_payout(self, url: str, payout: float | None) -> None:
        """What the virtual page pays a page, 0 or more; None: 1. Raises UnknownPage, BadInput."""
        self._editing.set_payout(url, payout)

    def set_value(self, url: str, value: float | None) -> None:
        """What a page is worth to the crawler, 0 or more; None: 1. It counts where the setting `value` is own. Raises
        UnknownPage, BadInput."""
        self._editing.set_value(url, value)

    def set_rate(self, url: str, per_day: float | None) -> None:
        """How often a page changes, in changes a day, as good as 50 changes that were seen; None: forget what is known.

        What later visits find changes it. Raises UnknownPage, BadInput.
        """
        self._editing.set_rate(url, per_day)

    def set_interval(self, url: str, seconds: float | None) -> None:
        """Fetch a page every so many seconds, whatever it is worth, under every order; None: as the order says.

        The time runs from the last visit. Raises UnknownPage, BadInput.
        """
        self._editing.set_interval(url, seconds)

    def clear(self, progress: Progress = lambda *_: None) -> None:
        """Delete all pages, links, hosts and counters; the brain and its settings stay. `progress` is told how many
        links, pages and hosts of how many are deleted."""
        self._editing.clear(progress)

    def remake(self, /, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too. Raises SettingsError when there are pages in it."""
        self._editing.remake(**settings)

    # ------------------------------------------------------------ hosts

    def host(self, name: str) -> Host:
        """What is known of one host. Raises BadInput for a host nobody has met."""
        return self._hosting.host(name)

    def sections(self, name: str) -> list[Section]:
        """The sections of a host, those with the most pages first; all its pages are read. Raises UnknownHost."""
        return self._hosting.sections(name)

    def hosts(
        self,
        text: str | None = None,
        *,
        blocked: bool | None = None,
        queued: bool | None = None,
        slowed: bool | None = None,
        silent: bool | None = None,
        outside: bool | None = None,
        count: int = COUNTED,
        limit: int | None = None,
    ) -> Iterator[Host]:
        """The hosts that fit all that is given, by name, at most `limit` of them; they are read as they are asked for.

        `text`: what the name must contain. `blocked`: is it left alone now? `queued`: do pages wait in its own queue?
        `slowed`: is it asked less often since it answered 429 or 503? `silent`: is it only probed, for it does not
        answer? `outside`: do `allow_hosts` and `deny_hosts` keep it out of the scope? `count`: how many pages of each
        are counted at most.
        """
        return self._hosting.hosts(
            text,
            blocked=blocked,
            queued=queued,
            slowed=slowed,
            silent=silent,
            outside=outside,
            count=count,
            limit=limit,
        )

    def set_host(
        self,
        host: str,
        *,
        delay: float | EllipsisType | None = ...,
        in_flight: int | EllipsisType | None = ...,
        budget: int | EllipsisType | None = ...,
    ) -> None:
        """Set one host's own manners: seconds between claims, most claims out, most pages fetched for the first time.

        What is not given stays. None goes back to the brain's settings; 0 is no delay or no limit. A budget counts the
        pages of the host that were fetched until now. The host need not have been met yet. Raises BadInput.
        """
        self._hosting.set_host(host, delay=delay, in_flight=in_flight, budget=budget)

    def block(self, host: str, seconds: float | None = None) -> None:
        """Leave a host alone for so many seconds from now; None: until `unblock`. It need not have been met yet. A wait
        that the host itself has asked for (Retry-After) is not made shorter. Raises BadInput."""
        self._hosting.block(host, seconds)

    def unblock(self, host: str) -> None:
        """Ask a host again, at its full rate, as if it had always answered. Raises BadInput for an unknown host."""
        self._hosting.unblock(host)

    def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt: `text` is what it answered; None: it has none, all may be fetched.

        Each scheme and port has its own: `host` is an origin, as in `https://a.example`, or a name, `a.example`. The
        text of a name is that of both schemes; the text of an origin goes over it. Pages that it forbids go outside
        (`outside_because` is "robots"), those of them that it allows now come back, and a forbidden page that is met
        later is never handed out. Its Crawl-delay becomes part of the host's delay, up to `longest_delay_seconds`.
        `agent`: whose rules hold for this host; None: those of the setting `user_agent`; of a whole header the product
        token counts. Of a longer text the first 512,000 characters are read. The host need not have been met yet.
        Raises BadInput.
        """
        return self._hosting.set_robots(host, text, agent=agent)

    def robots(self, host: str) -> str | None:
        """The robots.txt that was set for a host, or None: of an origin the one that holds for it, of a name that of
        both schemes, or else of one of them. Raises BadInput for a host nobody has met."""
        return self._hosting.robots(host)

    # ------------------------------------------------------------ another engine, newer URL rules

    def convert_engine(self, engine: str, progress: Callable[[int, int], None] = lambda *_: None) -> bool:
        """Give the brain another engine, `exact` or `classic`: all accounts begin anew; False if it has it already.

        Links, relevance, leases and visits stay. So does the policy of payouts, which is out of use under the classic
        engine and back with the exact one. Reports fail meanwhile with `try_again`. Killed or interrupted, it
        goes on where it stopped when it is run again. `progress` is told how many of how many pages are done.
        """
        return self._converting.convert_engine(engine, progress)

    @property
    def kept_payout(self) -> str | None:
        """The policy of payouts that comes back with the exact engine; None when it is in use, or uniform."""
        return self._converting.kept_payout

    def rekey(self, progress: Progress = lambda *_: None) -> Rekeyed:
        """Give all pages of a brain made by older URL rules their keys and addresses by today's; what was done now.

        Reports and all else that writes accounts wait meanwhile; claims go on. Pages that have one key now become one.
        Killed or interrupted, it goes on where it stopped when it is run again. Nothing is done to a brain of today's
        rules. `progress` is told how many of how many pages are done. Raises SettingsError, GraphUnavailable.
        """
        return self._rekeying.rekey(progress)
