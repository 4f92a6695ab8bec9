"""The client for programs with an event loop: `graphbrain.AsyncClient`, the verbs of `Client` as coroutines."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
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
from graphbrain.service.client.sending import failed, headers_of, options, result_of, retrying_async, seconds_of, take

__all__ = ["AsyncClient"]

T = TypeVar("T")


class AsyncClient:
    """A service's brain, as `Client`, for an event loop. Use it as an asynchronous context manager, or close it.

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
        self._http = httpx.AsyncClient(**options(base, secret, certificate))

    _offset: float | None

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the connections go. Claims stay held until they lapse: give them back first."""
        await self._http.aclose()

    async def _ask(self, call: Call[T]) -> T:
        async for attempt in retrying_async(self._limit, call):
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
                return call.read(take(await self._http.send(request), call.text))
        raise AssertionError  # the last attempt raises

    async def _lines(self, lines: LinesCall[T]) -> AsyncIterator[T]:
        async for attempt in retrying_async(self._limit, lines):
            with attempt:
                request = self._http.build_request("GET", f"v1/{lines.path}", params=lines.query, timeout=self._limit)
                response = await self._http.send(request, stream=True)
                if response.status_code != 200:
                    await response.aread()
                    take(response)
        try:
            async for text in response.aiter_lines():
                item = json.loads(text)
                if isinstance(item.get("error"), dict):
                    raise shapes.error_of(item)
                yield lines.read(item)
        except httpx.HTTPError as error:
            raise failed(error, self._http) from None
        finally:
            await response.aclose()

    async def _do(self, job: JobCall[T]) -> T:
        begun = await self._ask(job.begin)
        try:
            while begun["state"] == "running":
                begun = await self._ask(Calls.job(begun["id"], SOFTLY))
                job.tell(begun)
                if job.stop():
                    await self._ask(Calls.stop_job(begun["id"]))
        except BaseException:
            with contextlib.suppress(GraphbrainError):
                await self._ask(Calls.stop_job(begun["id"]))
            raise
        return result_of(job, begun)

    async def now(self) -> float:
        """Return epoch seconds by the server's clock. It is read once, and kept by this machine's monotonic clock."""
        if self._offset is None:
            before = time.monotonic()
            answer = await self._ask(Calls.now())
            self._offset = answer - (before + time.monotonic()) / 2
        return time.monotonic() + self._offset

    async def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages where the crawl begins, as `Brain.seed`."""
        return sum([await self._ask(call) for call in Calls.seed(urls)], SeedAnswer(0, 0))

    async def next_urls(
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
            claims = await self._ask(Calls.next_urls(n, worker or None, poll, key, now_only, wanted))
            if claims or claims.finished or key is not None or until - time.monotonic() <= 0:
                return claims

    async def report(self, items: Sequence[AnyReport]) -> list[Answer]:
        """Record visits; one answer for each, as `Brain.report`."""
        reports = list(items)
        now = await self.now() if any(getattr(item, "claim", None) is None for item in reports) else 0.0
        return [answer for call in Calls.report(reports, now) for answer in await self._ask(call)]

    async def renew(self, held: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims longer; None for each that is lost."""
        return [claim for call in Calls.renew(held, seconds) for claim in await self._ask(call)]

    async def give_back(self, held: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched; False for each that was lost before."""
        return [good for call in Calls.give_back(held) for good in await self._ask(call)]

    async def hint(self, hints: Iterable[Hint | str]) -> list[Hinted]:
        """Take word that pages have changed; one answer for each."""
        return [hinted for call in Calls.hint(hints) for hinted in await self._ask(call)]

    async def note(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Keep a text of the crawler's own on each of these pages; why of each that was refused."""
        return {page: why for call in Calls.note(texts) for page, why in (await self._ask(call)).items()}

    async def notes(self, pages: Iterable[Claim | str]) -> dict[str, str]:
        """The notes on these pages (claims, URLs or keys), by key."""
        return {key: text for call in Calls.notes(pages) for key, text in (await self._ask(call)).items()}

    async def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt."""
        return await self._ask(Calls.set_robots(host, text, agent))

    async def robots(self, host: str) -> str | None:
        """The robots.txt that was set for a host."""
        return await self._ask(Calls.robots(host))

    async def page(self, url: str) -> Page:
        """Everything about one page. Raises UnknownPage."""
        return await self._ask(Calls.page(url))

    async def top(self, n: int = 10, by: str = "authority") -> list[Page]:
        """Return the `n` pages of highest score, as `Brain.top`."""
        return await self._ask(Calls.top(n, by))

    async def payments(self, url: str, n: int = 5) -> Payments:
        """Explain the scores of a page, as `Brain.payments`."""
        return await self._ask(Calls.payments(url, n))

    def links(self, url: str, way: str = "out", limit: int | None = None) -> AsyncIterator[LinkedPage]:
        """The pages a page links to, or those that link to it, read as they are asked for."""
        return self._lines(Calls.links(url, way, limit))

    async def path(self, url: str, other: str | None = None) -> list[LinkedPage]:
        """A shortest way along links."""
        return await self._ask(Calls.path(url, other))

    async def neighbours(self, url: str) -> tuple[list[str], list[str]]:
        """The URLs a page links to, and those that link to it."""
        return await self._ask(Calls.neighbours(url))

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
    ) -> AsyncIterator[Page]:
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
    ) -> AsyncIterator[Page]:
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
    ) -> AsyncIterator[KnownLink]:
        """All links of the pages that fit, read as they are asked for."""
        which = LinkFilter(regex=regex, host=host, state=state, fetched=fetched, between_hosts=between_hosts)
        return self._lines(Calls.dump_links(which))

    async def questions(self) -> list[dict[str, Any]]:
        """All questions that `ask` answers, as `Brain.questions`."""
        return await self._ask(Calls.questions())

    async def ask(self, name: str, /, **parameters: Any) -> Asked:
        """The answer to a question, as `Brain.ask`; times as texts of ISO 8601. Raises Cancelled where it takes longer
        than the service lets it."""
        return await self._ask(Calls.ask(name, parameters))

    async def findings(self) -> list[Finding]:
        """Return the faults of pages and links, as `Brain.findings`."""
        return await self._ask(Calls.findings())

    async def summary(self, since: float | None = None) -> str:
        """The crawl on one page, as `Brain.summary`."""
        return await self._ask(Calls.summary(since))

    async def stats(self) -> dict[str, Any]:
        """Return the counts of what there is, by state, and of what was done."""
        return await self._ask(Calls.stats())

    async def rankings(self) -> list[Ranking]:
        """Return the rankings whose batch scores the pages have."""
        return await self._ask(Calls.rankings())

    async def settings(self) -> dict[str, Any]:
        """The settings of the brain, which all who use it share."""
        return await self._ask(Calls.settings())

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
    ) -> AsyncIterator[Host]:
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

    async def host(self, name: str) -> Host:
        """Return what is known of one host."""
        return await self._ask(Calls.host(name))

    async def sections(self, name: str) -> list[Section]:
        """The sections of a host."""
        return await self._ask(Calls.sections(name))

    async def set_host(
        self,
        host: str,
        *,
        delay: float | EllipsisType | None = ...,
        in_flight: int | EllipsisType | None = ...,
        budget: int | EllipsisType | None = ...,
    ) -> None:
        """Set the politeness of one host. Omitted settings stay; None restores the brain's setting."""
        await self._ask(Calls.set_host(host, {"delay": delay, "in_flight": in_flight, "budget": budget}))

    async def block(self, host: str, seconds: float | None = None) -> None:
        """Leave a host alone for so many seconds; None: until `unblock`."""
        await self._ask(Calls.done("block", host=host, seconds=seconds))

    async def unblock(self, host: str) -> None:
        """Ask a host again, at its full rate."""
        await self._ask(Calls.done("unblock", host=host))

    async def crawl_now(self, urls: Iterable[str]) -> list[bool]:
        """Hand these pages out before all others; True for each that will be fetched."""
        return [will for call in Calls.crawl_now(urls) for will in await self._ask(call)]

    async def link(self, source: str, target: str) -> bool:
        """Record that one page links to another; False: the link was there."""
        done: bool = await self._ask(Calls.done("link", source=source, target=target))
        return done

    async def unlink(self, source: str, target: str) -> bool:
        """Remove a link; False: there was none."""
        done: bool = await self._ask(Calls.done("unlink", source=source, target=target))
        return done

    async def forget(self, url: str, for_ever: bool = False) -> int | None:
        """Delete a page. Return the number of its links, or None if there was no such page."""
        done: int | None = await self._ask(Calls.done("forget", url=url, for_ever=for_ever))
        return done

    async def check_links(self, days: float = 7.0) -> int:
        """Request the status of URLs outside the scope to which pages link, except those that were checked within so
        many days. Return how many wait to be checked since now."""
        return int(await self._ask(Calls.done("check_links", days=days)))

    async def retry(self, *urls: str, host: str | None = None, state: str | None = None) -> int:
        """Queue pages again at once that were given up, redirect, or have failed. Return their number."""
        return await self._ask(Calls.retry(urls, host, state))

    async def park(self, *urls: str) -> list[bool]:
        """Stop fetching these pages until `retry`, `crawl_now` or `seed` names them. Return for each whether it is
        parked now."""
        return await self._ask(Calls.park(urls))

    async def pause(self) -> bool:
        """Let no page be claimed until `resume`; False if the brain is paused already."""
        return bool(await self._ask(Calls.done("pause")))

    async def resume(self) -> bool:
        """Let pages be claimed again; False if the brain was not paused."""
        return bool(await self._ask(Calls.done("resume")))

    async def set_relevance(self, url: str, relevance: float | None) -> None:
        """Set how close a page is to the topic, 0 to 1; None: not known."""
        await self._ask(Calls.done("set_relevance", url=url, relevance=relevance))

    async def set_payout(self, url: str, payout: float | None) -> None:
        """Set a page's payout; None: the payout that the setting gives it."""
        await self._ask(Calls.done("set_payout", url=url, payout=payout))

    async def set_value(self, url: str, value: float | None) -> None:
        """Set a page's worth to the crawler; None: 1."""
        await self._ask(Calls.done("set_value", url=url, value=value))

    async def set_rate(self, url: str, per_day: float | None) -> None:
        """Set how often a page changes, in changes a day; None: forget what is known."""
        await self._ask(Calls.done("set_rate", url=url, per_day=per_day))

    async def set_interval(self, url: str, seconds: float | None) -> None:
        """Fetch a page every so many seconds; None: as the order decides."""
        await self._ask(Calls.done("set_interval", url=url, seconds=seconds))

    async def remake(self, /, **settings: Any) -> None:
        """Give an empty brain new settings, the fixed ones too."""
        await self._ask(Calls.done("remake", settings=settings))

    async def tend(self, seconds: float = 1.0, *, pages: Iterable[str] | None = None) -> Tended:
        """Upkeep for some seconds, 60 at most."""
        return await self._ask(Calls.tend(seconds, pages))

    async def settle(
        self,
        *,
        tolerance: float | None = None,
        if_cheaper: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Settled:
        """Bring all accounts to their fixed point at once: a job of the service, which is waited for."""
        return await self._do(Calls.settle(SettleOptions(tolerance, if_cheaper), progress, stop))

    async def audit(self, sample: int | None = 1000, progress: Callable[[int, int], None] | None = None) -> Audit:
        """Recompute accounts from their neighbours; `sample` None: all. A job, which is waited for."""
        audited: Audit = await self._do(Calls.audit(sample, progress))
        return audited

    async def rank(
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
        return await self._do(Calls.rank(options, progress))

    async def rank_if_due(
        self, method: str, every: float = 3_600.0, *, progress: Callable[[str, int, int], None] | None = None
    ) -> Ranking | None:
        """Rank, where the scores are older than `every` seconds and no other process ranks; otherwise return None."""
        return await self._do(Calls.rank_if_due(RankDue(method, every), progress))

    async def change(self, progress: Callable[[int, int], None] | None = None, /, **settings: Any) -> None:
        """Change settings of the brain for all who use it. A job, which is waited for."""
        await self._do(Calls.change(settings, progress))

    async def clear(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Delete all pages, links, hosts and counters. A job, which is waited for."""
        await self._do(Calls.clear(progress))

    async def forget_relevance(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Forget what is known or guessed of the relevance of all pages; of how many something was."""
        return await self._do(Calls.forget_relevance(progress))

    async def convert_engine(self, engine: str, progress: Callable[[int, int], None] | None = None) -> bool:
        """Give the brain another engine. A job, which is waited for."""
        return await self._do(Calls.convert_engine(engine, progress))
