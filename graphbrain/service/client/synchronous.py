"""The client that waits for its answers: `graphbrain.Client`.

Made from `graphbrain.service.client.asynchronous`: change that, and run `python -m tests.contract.unasync --write`.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, TracebackType
from typing import Any, TypeVar

import httpx

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import (
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
    number,
)
from graphbrain.base.options.hosts import COUNTED, HostFilter
from graphbrain.base.options.pages import FindOptions, LinkFilter, PageFilter
from graphbrain.base.options.scores import RankDue, RankRun, SettleOptions
from graphbrain.base.records import Asked, Finding
from graphbrain.base.work import Audit, Ranking, Settled, Tended
from graphbrain.service.client import shapes
from graphbrain.service.client.calls import LONGEST_WAIT, SOFTLY, Call, Calls, JobCall, LinesCall, address
from graphbrain.service.client.sending import failed, headers_of, options, result_of, retrying, seconds_of, take

__all__ = ["Client"]

T = TypeVar("T")


class Client:
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

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        limit_seconds: float = 60.0,
        certificate: str | None = None,
        without_tls: bool = False,
    ) -> None:
        self._limit, self._offset = limit_seconds, None
        base, secret = address(url, token, without_tls)
        self._http = httpx.Client(**options(base, secret, certificate))

    _offset: float | None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go. Claims stay held until they lapse: give them back first."""
        self._http.close()

    def _ask(self, call: Call[T]) -> T:
        for attempt in retrying(self._limit, call):
            with attempt:
                seconds = seconds_of(call, self._limit)
                request = self._http.build_request(
                    call.method,
                    f"v1/{call.path}",
                    params=call.query,
                    content=call.body,
                    headers=headers_of(call),
                    timeout=httpx.Timeout(seconds, connect=10.0),
                )
                return call.read(take(self._http.send(request), call.text))
        raise AssertionError  # the last attempt raises

    def _lines(self, lines: LinesCall[T]) -> Iterator[T]:
        for attempt in retrying(self._limit, lines):
            with attempt:
                request = self._http.build_request("GET", f"v1/{lines.path}", params=lines.query, timeout=self._limit)
                response = self._http.send(request, stream=True)
                if response.status_code != 200:
                    response.read()
                    take(response)
        try:
            for text in response.iter_lines():
                item = json.loads(text)
                if isinstance(item.get("error"), dict):
                    raise shapes.error_of(item)
                yield lines.read(item)
        except httpx.HTTPError as error:
            raise failed(error, self._http) from None
        finally:
            response.close()

    def _do(self, job: JobCall[T]) -> T:
        begun = self._ask(job.begin)
        try:
            while begun["state"] == "running":
                begun = self._ask(Calls.job(begun["id"], SOFTLY))
                job.tell(begun)
                if job.stop():
                    self._ask(Calls.stop_job(begun["id"]))
        except BaseException:
            with contextlib.suppress(GraphbrainError):
                self._ask(Calls.stop_job(begun["id"]))
            raise
        return result_of(job, begun)

    def now(self) -> float:
        """Return epoch seconds by the server's clock. It is read once, and kept by this machine's monotonic clock."""
        if self._offset is None:
            before = time.monotonic()
            answer = self._ask(Calls.now())
            self._offset = answer - (before + time.monotonic()) / 2
        return time.monotonic() + self._offset

    def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages where the crawl begins, as `Brain.seed`."""
        return sum([self._ask(call) for call in Calls.seed(urls)], SeedAnswer(0, 0))

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
        """Claim up to `n` pages, as `Brain.next_urls`; without a `worker` they are the token's.

        A request whose answer is lost is repeated by the same key and gets the same claims. `key`: your own, where you
        mean to repeat a call that has failed altogether.
        """
        if not number(wait) or math.isnan(wait):
            raise BadInput(f"wait must be in seconds, not {wait!r:.80}.")
        until = time.monotonic() + wait
        wanted = None if kinds is None else shapes.kinds(kinds)
        while True:
            left = until - time.monotonic()
            poll = max(0.0, min(left, LONGEST_WAIT))
            claims = self._ask(Calls.next_urls(n, worker or None, poll, key, now_only, wanted))
            if claims or claims.finished or key is not None or until - time.monotonic() <= 0:
                return claims

    def report(self, items: Sequence[AnyReport]) -> list[Answer]:
        """Record visits; one answer for each, as `Brain.report`."""
        reports = list(items)
        now = self.now() if any(getattr(item, "claim", None) is None for item in reports) else 0.0
        return [answer for call in Calls.report(reports, now) for answer in self._ask(call)]

    def renew(self, held: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims longer; None for each that is lost."""
        return [claim for call in Calls.renew(held, seconds) for claim in self._ask(call)]

    def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched; False for each that was lost before."""
        return [good for call in Calls.give_back(held) for good in self._ask(call)]

    def hint(self, hints: Iterable[Hint | str]) -> list[Hinted]:
        """Take word that pages have changed; one answer for each."""
        return [hinted for call in Calls.hint(hints) for hinted in self._ask(call)]

    def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages; why of each that was refused."""
        return {page: why for call in Calls.note(texts) for page, why in (self._ask(call)).items()}

    def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """The notes on these pages (claims, URLs or keys), by key."""
        return {key: text for call in Calls.notes(pages) for key, text in (self._ask(call)).items()}

    def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt."""
        return self._ask(Calls.set_robots(host, text, agent))

    def robots(self, host: str) -> str | None:
        """The robots.txt that was set for a host."""
        return self._ask(Calls.robots(host))

    def page(self, url: str) -> Page:
        """Everything about one page. Raises UnknownPage."""
        return self._ask(Calls.page(url))

    def top(self, n: int = 10, by: str = "authority") -> list[Page]:
        """Return the `n` pages of highest score, as `Brain.top`."""
        return self._ask(Calls.top(n, by))

    def payments(self, url: str, n: int = 5) -> Payments:
        """Explain the scores of a page, as `Brain.payments`."""
        return self._ask(Calls.payments(url, n))

    def links(self, url: str, way: str = "out", limit: int | None = None) -> Iterator[LinkedPage]:
        """The pages a page links to, or those that link to it, read as they are asked for."""
        return self._lines(Calls.links(url, way, limit))

    def path(self, url: str, other: str | None = None) -> list[LinkedPage]:
        """A shortest way along links."""
        return self._ask(Calls.path(url, other))

    def neighbours(self, url: str) -> tuple[list[str], list[str]]:
        """The URLs a page links to, and those that link to it."""
        return self._ask(Calls.neighbours(url))

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
        """The pages that fit all that is given, read as they are asked for."""
        which = FindOptions(
            text=text, regex=regex, host=host, state=state, fetched=fetched, min_score=min_score, by=by, limit=limit
        )
        return self._lines(Calls.find(which))

    def dump_pages(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
    ) -> Iterator[Page]:
        """All pages that fit, read as they are asked for."""
        return self._lines(Calls.dump_pages(PageFilter(regex=regex, host=host, state=state, fetched=fetched)))

    def dump_links(
        self,
        *,
        regex: str | None = None,
        host: str | None = None,
        state: str | None = None,
        fetched: bool | None = None,
        between_hosts: bool = False,
    ) -> Iterator[KnownLink]:
        """All links of the pages that fit, read as they are asked for."""
        which = LinkFilter(regex=regex, host=host, state=state, fetched=fetched, between_hosts=between_hosts)
        return self._lines(Calls.dump_links(which))

    def questions(self) -> list[dict[str, Any]]:
        """All questions that `ask` answers, as `Brain.questions`."""
        return self._ask(Calls.questions())

    def ask(self, name: str, /, **parameters: Any) -> Asked:
        """The answer to a question, as `Brain.ask`; times as texts of ISO 8601. Raises Cancelled where it takes longer
        than the service lets it."""
        return self._ask(Calls.ask(name, parameters))

    def findings(self) -> list[Finding]:
        """Return the faults of pages and links, as `Brain.findings`."""
        return self._ask(Calls.findings())

    def summary(self, since: float | None = None) -> str:
        """The crawl on one page, as `Brain.summary`."""
        return self._ask(Calls.summary(since))

    def stats(self) -> dict[str, Any]:
        """Return the counts of what there is, by state, and of what was done."""
        return self._ask(Calls.stats())

    def rankings(self) -> list[Ranking]:
        """Return the rankings whose batch scores the pages have."""
        return self._ask(Calls.rankings())

    def settings(self) -> dict[str, Any]:
        """The settings of the brain, which all who use it share."""
        return self._ask(Calls.settings())

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
        """The hosts that fit all that is given, by name, read as they are asked for."""
        which = HostFilter(
            text=text,
            blocked=blocked,
            queued=queued,
            slowed=slowed,
            silent=silent,
            outside=outside,
            count=count,
            limit=limit,
        )
        return self._lines(Calls.hosts(which))

    def host(self, name: str) -> Host:
        """Return what is known of one host."""
        return self._ask(Calls.host(name))

    def sections(self, name: str) -> list[Section]:
        """The sections of a host."""
        return self._ask(Calls.sections(name))

    def set_host(
        self,
        host: str,
        *,
        delay: float | EllipsisType | None = ...,
        in_flight: int | EllipsisType | None = ...,
        budget: int | EllipsisType | None = ...,
    ) -> None:
        """Set the politeness of one host. Omitted settings stay; None restores the brain's setting."""
        self._ask(Calls.set_host(host, {"delay": delay, "in_flight": in_flight, "budget": budget}))

    def block(self, host: str, seconds: float | None = None) -> None:
        """Leave a host alone for so many seconds; None: until `unblock`."""
        self._ask(Calls.done("block", host=host, seconds=seconds))

    def unblock(self, host: str) -> None:
        """Ask a host again, at its full rate."""
        self._ask(Calls.done("unblock", host=host))

    def crawl_now(self, urls: Iterable[str]) -> list[bool]:
        """Hand these pages out before all others; True for each that will be fetched."""
        return [will for call in Calls.crawl_now(urls) for will in self._ask(call)]

    def link(self, source: str, target: str) -> bool:
        """Record that one page links to another; False: the link was there."""
        done: bool = self._ask(Calls.done("link", source=source, target=target))
        return done

    def unlink(self, source: str, target: str) -> bool:
        """Remove a link; False: there was none."""
        done: bool = self._ask(Calls.done("unlink", source=source, target=target))
        return done

    def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page. Return the number of its links, or None if there was no such page."""
        done: int | None = self._ask(Calls.done("forget", url=url, for_ever=for_ever))
        return done

    def check_links(self, days: float = 7.0) -> int:
        """Request the status of URLs outside the scope to which pages link, except those that were checked within so
        many days. Return how many wait to be checked since now."""
        return int(self._ask(Calls.done("check_links", days=days)))

    def retry(self, *urls: str, host: str | None = None, state: str | None = None) -> int:
        """Queue pages again at once that were given up, redirect, or have failed. Return their number."""
        return self._ask(Calls.retry(urls, host, state))

    def park(self, *urls: str) -> list[bool]:
        """Stop fetching these pages until `retry`, `crawl_now` or `seed` names them. Return for each whether it is
        parked now."""
        return self._ask(Calls.park(urls))

    def pause(self) -> bool:
        """Let no page be claimed until `resume`; False if the brain is paused already."""
        return bool(self._ask(Calls.done("pause")))

    def resume(self) -> bool:
        """Let pages be claimed again; False if the brain was not paused."""
        return bool(self._ask(Calls.done("resume")))

    def set_relevance(self, url: str, relevance: float | None) -> None:
        """Set how close a page is to the topic, 0 to 1; None: not known."""
        self._ask(Calls.done("set_relevance", url=url, relevance=relevance))

    def set_payout(self, url: str, payout: float | None) -> None:
        """Set a page's payout; None: the payout that the setting gives it."""
        self._ask(Calls.done("set_payout", url=url, payout=payout))

    def set_value(self, url: str, value: float | None) -> None:
        """Set a page's worth to the crawler; None: 1."""
        self._ask(Calls.done("set_value", url=url, value=value))

    def set_rate(self, url: str, per_day: float | None) -> None:
        """Set how often a page changes, in changes a day; None: forget what is known."""
        self._ask(Calls.done("set_rate", url=url, per_day=per_day))

    def set_interval(self, url: str, seconds: float | None) -> None:
        """Fetch a page every so many seconds; None: as the order decides."""
        self._ask(Calls.done("set_interval", url=url, seconds=seconds))

    def remake(self, /, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too."""
        self._ask(Calls.done("remake", settings=settings))

    def tend(self, seconds: float = 1.0, *, pages: Iterable[str] | None = None) -> Tended:
        """Upkeep for some seconds, 60 at most."""
        return self._ask(Calls.tend(seconds, pages))

    def settle(
        self,
        *,
        tolerance: float | None = None,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """Bring all accounts to their fixed point at once: a job of the service, which is waited for."""
        return self._do(Calls.settle(SettleOptions(tolerance, if_cheaper), progress, stop))

    def audit(self, sample: int | None = 1000, progress: Callable[[int, int], None] | None = None) -> Audit:
        """Recompute accounts from their neighbours; `sample` None: all. A job, which is waited for."""
        audited: Audit = self._do(Calls.audit(sample, progress))
        return audited

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
        """Batch scores of all pages. A job, which is waited for."""
        options = RankRun(
            method=method,
            damping=damping,
            tolerance=tolerance,
            iterations=iterations,
            only_external=only_external,
            content=content,
            trusted=None if trusted is None else list(trusted),
            top=top,
            write=write,
            warm=warm,
        )
        return self._do(Calls.rank(options, progress))

    def rank_if_due(
        self, method: str, every: float = 3_600.0, *, progress: Callable[[str, int, int], None] | None = None
    ) -> Ranking | None:
        """Rank, where the scores are older than `every` seconds and no other process ranks; otherwise return None."""
        return self._do(Calls.rank_if_due(RankDue(method, every), progress))

    def change(self, progress: Callable[[int, int], None] | None = None, /, **settings: Any) -> None:
        """Change settings of the brain for all who use it. A job, which is waited for."""
        self._do(Calls.change(settings, progress))

    def clear(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Delete all pages, links, hosts and counters. A job, which is waited for."""
        self._do(Calls.clear(progress))

    def forget_relevance(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Forget what is known or guessed of the relevance of all pages; of how many something was."""
        return self._do(Calls.forget_relevance(progress))

    def convert_engine(self, engine: str, progress: Callable[[int, int], None] | None = None) -> bool:
        """Give the brain another engine. A job, which is waited for."""
        return self._do(Calls.convert_engine(engine, progress))
