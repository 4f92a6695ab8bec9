"""The verbs of `graphbrain.Client`.

Made from the verbs of `graphbrain.brain`: change these, and run `python -m tests.contract.clients --write`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import EllipsisType
from typing import Any

from graphbrain.base.model import Claim, Hint, Hinted, Host, Page, RobotsAnswer, SeedAnswer
from graphbrain.base.records import KnownLink, LinkedPage, Payments, Section
from graphbrain.base.work import Audit, Ranking, Settled
from graphbrain.service.client import shapes
from graphbrain.service.client.calls import Job, get, post
from graphbrain.service.client.waiting import Transport

__all__ = ["Client"]


class Client(Transport):
    """A service's brain, as `Brain`. Thread-safe. Use it as a context manager, or close it.

    Args:
        url: The service's address; default: GRAPHBRAIN_SERVICE_URL.
        token: The access token; default: GRAPHBRAIN_SERVICE_TOKEN.
        limit_seconds: The time for which a call is tried again before it raises ServiceUnavailable.
        certificate: A file with the certificates to trust, for a service whose certificate no public authority has
            signed.
        without_tls: Send the token without encryption to another machine.

    Raises:
        ServiceRefused: The service refused a request. Other errors are those of `Brain`.
        ServiceUnavailable: The service did not answer in time.
    """

    def convert_engine(self, engine: str, progress: Callable[[int, int], None] | None = None) -> bool:
        """Give the brain another engine, `exact` or `classic`. All accounts begin anew. False if it has it already.

        Links, relevance, leases and visits stay. The policy of payouts stays, too, out of use under the classic engine
        and back with the exact one. Reports fail meanwhile with `try_again`. Killed or interrupted, the conversion
        continues where it stopped when it is run again. `progress` is called with the number of finished pages, and of
        all.
        """
        answer: bool = self._job("convert_engine", bool, {"engine": engine}, Job(progress, False))
        return answer

    def host(self, name: str) -> Host:
        """Return what is known of one host. Raises UnknownHost, a BadInput, for a host that is not in the graph."""
        answer: Host = self._ask(get("host", {"name": name}), Host, "")
        return answer

    def sections(self, name: str) -> list[Section]:
        """Return the sections of a host, those with the most pages first. All its pages are read. Raises
        UnknownHost."""
        answer: list[Section] = self._ask(get("sections", {"name": name}), list[Section], "sections")
        return answer

    def hosts(
        self,
        text: str | None = None,
        *,
        blocked: bool | None = None,
        queued: bool | None = None,
        slowed: bool | None = None,
        silent: bool | None = None,
        outside: bool | None = None,
        count: int = 1000,
        limit: int | None = None,
    ) -> Iterator[Host]:
        """Return the hosts that fit all that is given, by name. They are read as the iterator proceeds.

        Args:
            text: Only hosts whose name contains this.
            blocked: Only hosts that are, or are not, blocked or backed off now.
            queued: Only hosts that have, or have not, pages in their own queues.
            slowed: Only hosts that are, or are not, asked less often since they answered 429 or 503.
            silent: Only hosts that are, or are not, probed alone because they do not answer.
            outside: Only hosts that `allow_hosts` and `deny_hosts` keep, or do not keep, out of the scope.
            count: Most pages of a host that are counted.
            limit: End after this number; all unless given.
        """
        return self._lines(
            "hosts",
            Host,
            {
                "text": text,
                "blocked": blocked,
                "queued": queued,
                "slowed": slowed,
                "silent": silent,
                "outside": outside,
                "count": count,
                "limit": limit,
            },
        )

    def set_host(
        self,
        host: str,
        *,
        delay: float | EllipsisType | None = ...,
        in_flight: int | EllipsisType | None = ...,
        budget: int | EllipsisType | None = ...,
    ) -> None:
        """Set one host's own politeness. An argument that is not given stays as it is, None is the brain's setting.

        The host need not have been met yet.

        Args:
            host: Its name.
            delay: Least seconds between two claims; 0 is no delay.
            in_flight: Most claims at once; 0 is no limit.
            budget: Most pages fetched for the first time, with those fetched until now; 0 is no limit.

        Raises:
            BadInput: An argument is out of range.
        """
        self._ask(
            post("set_host", {"host": host, "delay": delay, "in_flight": in_flight, "budget": budget}), None, "done"
        )

    def block(self, host: str, seconds: float | None = None) -> None:
        """Block a host for so many seconds from now; None: until `unblock`.

        It need not have been met yet. A wait that the host itself has asked for (Retry-After) is not made shorter.
        Raises BadInput.
        """
        self._ask(post("block", {"host": host, "seconds": seconds}), None, "done")

    def unblock(self, host: str) -> None:
        """Ask a host again, at its full rate, as if it had always answered. Raises BadInput for an unknown host."""
        self._ask(post("unblock", {"host": host}), None, "done")

    def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt.

        Pages that it forbids go outside (`outside_because` is "robots"), those of them that it allows now come back,
        and a forbidden page that is met later is never claimed. Its Crawl-delay becomes part of the host's delay, up to
        `longest_delay_seconds`. The host need not have been met yet.

        Args:
            host: An origin, as in `https://a.example`, or a name, `a.example`. Each scheme and port has its own
                robots.txt. The text of a name is that of both schemes; the text of an origin takes precedence over it.
            text: The answer of the host; None: it has none, and all may be fetched. Of a longer text the first 512,000
                characters are read.
            agent: The user agent whose rules hold for this host; None: that of the setting `user_agent`. Of a whole
                header the product token counts.

        Raises:
            BadInput: The name is no host's.
        """
        answer: RobotsAnswer = self._ask(
            post("set_robots", {"host": host, "text": shapes.text(text), "agent": agent}), RobotsAnswer, ""
        )
        return answer

    def robots(self, host: str) -> str | None:
        """Return the robots.txt that was set for a host, or None.

        Of an origin it is the one that holds for it; of a name that of both schemes, or else of one of them. Raises
        BadInput for a host that is not in the graph.
        """
        answer: str | None = self._ask(get("robots", {"host": host}), str | None, "text")
        return answer

    def change(self, progress: Callable[[int, int], None] | None = None, /, **settings: Any) -> None:
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
        self._job("change", None, {"settings": settings}, Job(progress, False))

    def link(self, source: str, target: str) -> bool:
        """Record that one page links to another. False if there was such a link, which stays.

        Pages that are not known are created. If the target redirects for good, the link ends where it leads. Raises
        UnknownPage for an unknown page that is named by its key, and BadInput for a source that redirects: it has no
        links.
        """
        answer: bool = self._ask(post("link", {"source": source, "target": target}), bool, "done")
        return answer

    def unlink(self, source: str, target: str) -> bool:
        """Remove a link. False if there was none."""
        answer: bool = self._ask(post("unlink", {"source": source, "target": target}), bool, "done")
        return answer

    def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page, its links and its account. Its aliases wait to be fetched again.

        Args:
            url: Its URL or key.
            for_ever: It never comes back, and only its key is kept.

        Returns:
            The number of links it had, or None when there was no such page.
        """
        answer: int | None = self._ask(post("forget", {"url": url, "for_ever": for_ever}), int | None, "done")
        return answer

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
        answer: int = self._ask(post("retry", {"urls": shapes.listed(urls), "host": host, "state": state}), int, "done")
        return answer

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
        self._ask(
            post(
                "set_page",
                {
                    "url": url,
                    "value": value,
                    "rate": rate,
                    "interval": interval,
                    "relevance": relevance,
                    "payout": payout,
                },
            ),
            None,
            "done",
        )

    def forget_relevance(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Forget the known and the guessed relevance of all pages. Return the number of pages that had any.

        `progress` is called with the number of finished pages, and of all.
        """
        answer: int = self._job("forget_relevance", int, {}, Job(progress, False))
        return answer

    def park(self, *urls: str) -> list[bool]:
        """Do not fetch these pages (URLs or keys) until `retry`, `crawl_now` or `seed` names them, or a visit is
        reported.

        Returns:
            True for each that is parked now; False for one that is held, redirects, or is outside.

        Raises:
            UnknownPage: A page is not in the graph.
        """
        answer: list[bool] = self._ask(post("park", {"urls": shapes.listed(urls)}), list[bool], "parked")
        return answer

    def pause(self) -> bool:
        """Let no page be claimed until `resume`. False if the brain is paused already.

        Other processes take it up within a second. `next_urls` waits as if nothing could be claimed; its answer is
        `paused` and not `finished`. All else goes on; claims that are out stay good.
        """
        answer: bool = self._ask(post("pause", {}), bool, "done")
        return answer

    def resume(self) -> bool:
        """Let pages be claimed again. False if the brain was not paused."""
        answer: bool = self._ask(post("resume", {}), bool, "done")
        return answer

    def remake(self, /, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too. Raises SettingsError when there are pages in it."""
        self._ask(post("remake", {"settings": settings}), None, "done")

    def check_links(self, days: float = 7.0) -> int:
        """Ask for the status of the URLs outside the scope to which pages link.

        Callers of `next_urls` that name the kind `link` claim these checks. A URL that cannot be had appears in the
        question `broken-links`. No page is made of it.

        Args:
            days: Leave out URLs that were checked within so many days.

        Returns:
            The number of URLs that wait to be checked since now.
        """
        answer: int = self._ask(post("check_links", {"days": days}), int, "done")
        return answer

    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages (URL or key → text), known or to come.

        The first note on a page holds until the page is forgotten. A note that is written before the page is reported
        as a link, or seeded, is there whenever the page is claimed.

        Returns:
            Page → the reason, of each that was refused.
        """
        answer: dict[str, str] = self._parts("note", dict[str, str], "refused", "texts", texts)
        return answer

    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """Return the notes on these pages (claims, URLs or keys), by key; a page without one is not in the answer."""
        answer: dict[str, str] = self._parts("notes", dict[str, str], "notes", "pages", pages)
        return answer

    def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages of these URLs, where the crawl begins. Known pages become seeds.

        A page that was given up waits again, as after `retry`. Bad URLs are refused item by item.

        Returns:
            The counts, and the pages that will not be fetched, each with the reason.
        """
        answer: SeedAnswer = self._parts("seed", SeedAnswer, "", "urls", urls)
        return answer

    def hint(self, hints: Iterable[Hint | str]) -> list[Hinted]:
        """Accept hints that pages have changed; a bare URL or key is a ping.

        An unknown page is created, one click away from where the crawl begins, if the hint has its URL. A page that was
        fetched waits as if it had not been seen for longer (settings `hint_recall`, `hint_false`), once for each hint
        that is newer than its last visit and its last hint.

        Returns:
            One answer for each hint, in their order.
        """
        answer: list[Hinted] = self._parts("hint", list[Hinted], "answers", "hints", hints)
        return answer

    def crawl_now(self, urls: Iterable[str]) -> list[bool]:
        """Claim these pages before all others, whatever became of them. URLs that are not known become pages.

        Hosts' delays hold.

        Returns:
            True for each that will be fetched. False where scope or robots.txt forbid it, where it was forgotten for
            ever, or where it is no URL.
        """
        answer: list[bool] = self._parts("crawl_now", list[bool], "will", "urls", urls)
        return answer

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
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Ranking:
        """Score all pages by `method` and write the scores back to them.

        Reports go on meanwhile; pages they bring are left out. An interruption while it writes leaves scores that are
        partly old, and `rankings` reports it. Where the order uses these scores (the setting `value`), pages change
        lanes; if that is broken off, `tend` continues it. `converged` of the answer is True if `tolerance` was reached.

        Args:
            method: hits, pagerank, personalised (restart by relevance), trustrank (restart at the seeds, or at the URLs
                `trusted`), salsa, opic.
            damping: Share of readers who follow a link, of pagerank and its kin; .85 by default.
            tolerance: Acceptable error of all scores together; 1e-9 by default.
            iterations: Most iterations; 10,000 by default.
            only_external: Leave out links inside a host.
            content: Weigh authorities by their relevance (hits).
            trusted: A trusted page, instead of the seeds, at which trustrank restarts.
            top: Number of best pages in the answer.
            write: Write the scores to the pages.
            warm: Begin with the scores that the pages have, which takes fewer iterations where little has changed.
            progress: Called with the step, how far it is, and of how much.

        Raises:
            BadInput: The method is unknown, or does not take an argument.
            UnknownPage: A page of `trusted` is not in the graph.
        """
        answer: Ranking = self._job(
            "rank",
            Ranking,
            {
                "method": method,
                "damping": damping,
                "tolerance": tolerance,
                "iterations": iterations,
                "only_external": only_external,
                "content": content,
                "trusted": shapes.listed(trusted),
                "top": top,
                "write": write,
                "warm": warm,
            },
            Job(progress, True),
        )
        return answer

    def rankings(self) -> list[Ranking]:
        """Return the batch scores that the pages have, and how they were computed; the latest first."""
        answer: list[Ranking] = self._ask(get("rankings"), list[Ranking], "rankings")
        return answer

    def page(self, url: str) -> Page:
        """Return everything about one page, named by URL or key. Raises UnknownPage."""
        answer: Page = self._ask(get("page", {"url": url}), Page, "")
        return answer

    def payments(self, url: str, n: int = 5) -> Payments:
        """Explain the scores of a page: return the `n` largest payers and payees of both its sides.

        The classic engine does not record who paid whom: there are none. Raises UnknownPage.
        """
        answer: Payments = self._ask(get("payments", {"url": url, "n": n}), Payments, "")
        return answer

    def links(self, url: str, way: str = "out", limit: int | None = None) -> Iterator[LinkedPage]:
        """Return the pages a page links to (`way` "out"), or those that link to it ("in"), the best `limit` of them
        first.

        Best is by authority for the targets of links and by hub for their sources: the amounts that the links pay. They
        are read as the iterator proceeds. Raises UnknownPage.
        """
        return self._lines("links", LinkedPage, {"url": url, "way": way, "limit": limit})

    def path(self, url: str, other: str | None = None) -> list[LinkedPage]:
        """Return a shortest way along links and redirects from one page to another; with one page, from any seed to it.

        Both ends are in it; it is empty when there is none of at most 1000 links. Raises UnknownPage.
        """
        answer: list[LinkedPage] = self._ask(get("path", {"url": url, "other": other}), list[LinkedPage], "path")
        return answer

    def find(
        self,
        text: str = "",
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        min_score: float | None = None,
        by: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Page]:
        """Return the pages that fit all that is given. With `by` and `limit` they are the best ones without
        aliases, best first.

        The best by authority or hub of all pages have an index. From a `min_score` of 32 by authority or hub on an
        index is used and the best come first; a `host` has an index, too. Otherwise every page is read, in the order of
        the store, as the iterator proceeds. Under the classic engine, whose scores are shares, every `min_score` reads
        every page.

        Args:
            text: Only pages whose URL contains this.
            regex: A regular expression found in the URL.
            host: The host of the page.
            state: The state of the page.
            fetched: Whether it was fetched.
            min_score: Only pages of at least this score.
            by: The score: authority, hub, a batch score (pagerank, hits_hub, …), relevance or value, as far as they are
                known, or cash; None: authority, for `min_score` alone.
            limit: The most pages, 10,000 of the best; None: all.

        Raises:
            BadInput: An argument is wrong.
            NoScore: No page has that score.
        """
        return self._lines(
            "find",
            Page,
            {
                "text": text,
                "regex": regex,
                "host": host,
                "state": state,
                "fetched": fetched,
                "min_score": min_score,
                "by": by,
                "limit": limit,
            },
        )

    def dump_pages(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
    ) -> Iterator[Page]:
        """Return all pages that fit, in the order of the store, read in small parts: memory stays bounded.

        Pages that come or go meanwhile may be in it or not. `progress` is called with the number of finished ids, and
        of all.
        """
        return self._lines("dump_pages", Page, {"regex": regex, "host": host, "state": state, "fetched": fetched})

    def dump_links(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        between_hosts: bool = False,
    ) -> Iterator[KnownLink]:
        """Return all links of the pages that fit, like `dump_pages`; `between_hosts`: only those to another host."""
        return self._lines(
            "dump_links",
            KnownLink,
            {"regex": regex, "host": host, "state": state, "fetched": fetched, "between_hosts": between_hosts},
        )

    def stats(self) -> dict[str, Any]:
        """Return the counts of what there is, by state, and of what was done. Reads every page: for people, not for
        loops.

        `pages` and `hosts` are those inside the scope, `outside_pages` those outside that links name. `states` counts
        both.
        """
        answer: dict[str, Any] = self._ask(get("stats"), dict[str, Any], "")
        return answer

    def audit(self, sample: int | None = 1000, progress: Callable[[int, int], None] | None = None) -> Audit:
        """Recompute accounts from their neighbours and check leases, queues and marks; `sample` None: every page."""
        answer: Audit = self._job("audit", Audit, {"sample": sample}, Job(progress, False))
        return answer

    def questions(self) -> list[dict[str, Any]]:
        """Return all questions that `ask` answers: name, group, title, reading, cost and parameters of each."""
        answer: list[dict[str, Any]] = self._ask(get("questions"), list[dict[str, Any]], "questions")
        return answer

    def settle(
        self,
        *,
        tolerance: float = 1e-07,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """Bring all accounts to their fixed point at once, beside all other work.

        Pages that change meanwhile are left to pushes. Nothing is done while another pass is under way.

        Args:
            tolerance: Relative error of the scores that is left, where nothing changes meanwhile.
            if_cheaper: Do nothing where pushes are cheaper; `tend` calls it so.
            progress: Called with the step (export, solve, write), how far it is, and of how much.
            stop: Asked between transactions. True ends the pass; what is written by then stays and is right.

        Raises:
            BadInput: The brain has the classic engine.
        """
        answer: Settled = self._job(
            "settle", Settled, {"tolerance": tolerance, "if_cheaper": if_cheaper}, Job(progress, True, stop)
        )
        return answer

    def clear(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Delete all pages, links, hosts and counters. The brain and its settings stay.

        `progress` is called with the number of deleted links, pages and hosts, and of all.
        """
        self._job("clear", None, {}, Job(progress, False))
