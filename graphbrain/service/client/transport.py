"""The requests of `graphbrain.AsyncClient`, and those of its verbs that are more than one request."""

from __future__ import annotations

import contextlib
import json
import math
import operator
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Self
from urllib.parse import quote

import httpx

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import Answer, AnyReport, Claim, Claims, number
from graphbrain.base.records import Asked, Finding
from graphbrain.base.work import Tended
from graphbrain.service.client import shapes
from graphbrain.service.client.calls import (
    LONGEST_ANSWER,
    LONGEST_WAIT,
    SOFTLY,
    Call,
    Job,
    address,
    get,
    in_parts,
    new_key,
    post,
)
from graphbrain.service.client.sending import failed, headers_of, options, retrying_async, seconds_of, take

__all__ = ["AsyncTransport"]


class AsyncTransport:
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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the connections go. Claims stay held until they lapse: give them back first."""
        await self._http.aclose()

    async def _send(self, call: Call) -> Any:
        """Return the JSON of an answer, or its text."""
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
                return take(await self._http.send(request), call.text)
        raise AssertionError  # the last attempt raises

    async def _ask(self, call: Call, kind: Any, field: str) -> Any:
        """Return an answer as its type; `field`: where it is in the JSON, "": it is the whole."""
        answer = await self._send(call)
        return shapes.read(kind, answer[field] if field else answer)

    async def _parts(self, path: str, kind: Any, field: str, name: str, items: Any, *, repeats: bool = False) -> Any:
        """Return the answer about items that are sent in several requests, if they are many."""
        calls = in_parts(path, name, items, repeats=repeats)
        answers = [await self._ask(call, kind, field) for call in calls]
        return reduce(operator.or_ if isinstance(answers[0], dict) else operator.add, answers)

    async def _lines(self, path: str, kind: Any, query: Mapping[str, Any]) -> AsyncIterator[Any]:
        # Begin the stream; only its beginning is tried again.
        call = get(path, query)
        async for attempt in retrying_async(self._limit, call):
            with attempt:
                request = self._http.build_request("GET", f"v1/{path}", params=call.query, timeout=self._limit)
                response = await self._http.send(request, stream=True)
                if response.status_code != 200:
                    await response.aread()
                    take(response)
        # Read its lines. One with an error is the last.
        try:
            async for text in response.aiter_lines():
                item = json.loads(text)
                if isinstance(item.get("error"), dict):
                    raise shapes.error_of(item)
                yield shapes.read(kind, item)
        except httpx.HTTPError as error:
            raise failed(error, path) from None
        finally:
            await response.aclose()

    async def _job(self, path: str, kind: Any, body: Mapping[str, Any], job: Job) -> Any:
        begun = await self._send(post(path, body, key=new_key()))
        address = f"jobs/{begun['id']}"
        try:
            while begun["state"] == "running":
                begun = await self._send(get(address, {"wait": SOFTLY}, seconds=SOFTLY))
                job.tell(begun)
                if job.stop():
                    await self._send(Call("DELETE", address))
        except BaseException:
            with contextlib.suppress(GraphbrainError):
                await self._send(Call("DELETE", address))
            raise
        return shapes.read(kind, job.result(begun))

    async def now(self) -> float:
        """Return epoch seconds by the server's clock. It is read once, and kept by this machine's monotonic clock."""
        if self._offset is None:
            before = time.monotonic()
            answer = float((await self._send(get("now")))["now"])
            self._offset = answer - (before + time.monotonic()) / 2
        return time.monotonic() + self._offset

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
        body = {
            "n": n,
            "worker": worker or ...,
            "now_only": now_only or ...,
            "kinds": ... if kinds is None else [kinds] if isinstance(kinds, str) else list(kinds),
        }
        while True:
            poll = max(0.0, min(until - time.monotonic(), LONGEST_WAIT))
            call = post("next_urls", {**body, "wait": poll}, key=key or new_key(), seconds=poll, repeats=True)
            claims: Claims = await self._ask(call, Claims, "")
            if claims or claims.finished or key is not None or until - time.monotonic() <= 0:
                return claims

    async def report(self, reports: Sequence[AnyReport]) -> list[Answer]:
        """Record visits; one answer for each, as `Brain.report`."""
        items = list(reports)
        now = await self.now() if any(getattr(item, "claim", None) is None for item in items) else 0.0
        lines = (shapes.report(item, now) for item in items)
        answers: list[Answer] = await self._parts("report", list[Answer], "answers", "reports", lines, repeats=True)
        return answers

    async def renew(self, claims: Iterable[Claim], seconds: float | None = None) -> list[Claim | None]:
        """Hold claims longer; None for each that is lost."""
        kept = await self._of_claims("renew", claims, f', "seconds": {shapes.dumps(seconds)}')
        return [shapes.read(Claim, each) if "token" in each else None for each in kept]

    async def give_back(self, claims: Iterable[Claim]) -> list[bool]:
        """Return claims unfetched; False for each that was lost before."""
        return [each.get("given_back", False) for each in await self._of_claims("give_back", claims)]

    async def _of_claims(self, path: str, claims: Iterable[Claim], more: str = "") -> list[dict[str, Any]]:
        """Return the answer about each claim, as JSON."""
        answers = []
        for call in in_parts(path, "claims", claims, more, repeats=True):
            answers += (await self._send(call))["claims"]
        return answers

    async def tend(self, seconds: float | None = 1.0, *, pages: Iterable[str] | None = None) -> Tended:
        """Upkeep for some seconds, 60 at most."""
        if not number(seconds):
            raise BadInput(f"Over HTTP tend takes seconds, at most 60, not {seconds!r:.80}; settle ends all.")
        body = {"seconds": float(seconds), "pages": shapes.listed(pages)}
        tended: Tended = await self._ask(post("tend", body), Tended, "")
        return tended

    async def ask(self, name: str, /, **parameters: Any) -> Asked:
        """The answer to a question, as `Brain.ask`; times as texts of ISO 8601. Raises Cancelled where it takes longer
        than the service lets it."""
        if "format" in parameters:
            raise BadInput(f"{name} has no parameter 'format'.")
        call = get(f"ask/{quote(name, safe='')}", parameters, seconds=LONGEST_ANSWER)
        answer: Asked = await self._ask(call, Asked, "")
        return answer

    async def findings(self) -> list[Finding]:
        """Return the faults of pages and links, as `Brain.findings`."""
        call = get("findings", seconds=LONGEST_ANSWER)
        findings: list[Finding] = await self._ask(call, list[Finding], "findings")
        return findings

    async def summary(self, since: float | None = None) -> str:
        """The crawl on one page, as `Brain.summary`."""
        return str(await self._send(get("summary", {"since": since}, seconds=LONGEST_ANSWER, text="text/html")))

    async def settings(self) -> dict[str, Any]:
        """The settings of the brain, which all who use it share."""
        settings: dict[str, Any] = (await self._send(get("settings")))["settings"]
        return settings
