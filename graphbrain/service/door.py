"""The checks that every request passes, in this order: its id, the Host header, the token, the role, the rate, the
body.

They are before the framework, so that nothing of a request is read before its caller is known. Logs have the token's
name and the verb; never a token, a query, a body, or a path that is none of the service's.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from graphbrain.base.errors import GraphbrainError
from graphbrain.service.access import HOLDS, READ_AHEAD, Gatekeeper, Grant
from graphbrain.service.bodies import HELD, HELD_OF_ONE, Body
from graphbrain.service.heads import LONGEST_HEAD, MOST_HEADERS, TOO_LARGE
from graphbrain.service.refusals import CURRENT_ID, Refusal, body_of
from graphbrain.service.seats import ANYBODY, CALLER, Buckets, Places, Seat, Strangers

__all__ = ["ANYBODY", "Door", "Limits"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""The paths that need no token: they show nothing of the crawl."""
SCRAPED = ("GET", "/metrics")
"""Prometheus' scrapes. They get a reserved place with any token: operators must see the state of a busy service."""
HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\s:\[\]/]+))(?::\d{1,5})?", re.ASCII)
REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
ABSOLUTE = re.compile(r"https?://([^/]*)(/.*)?", re.ASCII | re.IGNORECASE | re.DOTALL)
"""A target that names the server, too (RFC 9112, 3.2.2)."""
STALLED, LEAST_PACE = 30.0, 10_000
"""An answer is broken off if its reader takes nothing for `STALLED` seconds, or if the service has waited so long for
the reader and fewer than `LEAST_PACE` bytes a second were read. A few such readers would hold all streams."""
AT_ONCE = 262_144
"""Bytes of an answer that are handed to the network at once; the next ones when it has taken them."""
LOOK_SECONDS = 5.0
"""The most seconds for which a request waits until the tokens are read."""
log = logging.getLogger("graphbrain.service")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a service.

    Attributes:
        body: Bytes of a request. Bodies of 16 times as many are held at once, and 8 times as many of one token.
        body_seconds: Seconds in which a request must arrive.
        items: Reports, claims, URLs in one request.
        rate: Requests of one token a second, and twice as many at once; 0: no limit.
        requests: Requests that are open at the same time.
        requests_of_one: Those of one token.
        polls: Long polls that wait, half of them of one token.
        streams: Dumps and finds at the same time.
        streams_of_one: Those of one token.
        stream_seconds: The longest duration of a stream.
        questions: Questions at the same time that read every page, one of them of one token.
        question_seconds: The longest duration of any question.
        wait: Seconds of a long poll.
        queue: Requests that wait for a thread.

    A twentieth of the requests, an eighth of the streams and one question are reserved for operators.
    """

    body: int = 16 * 2**20
    body_seconds: float = 30.0
    items: int = 1_000
    rate: float = 200.0
    requests: int = 1_000
    requests_of_one: int = 500
    polls: int = 10_000
    streams: int = 16
    streams_of_one: int = 4
    stream_seconds: float = 3_600.0
    questions: int = 4
    question_seconds: float = 300.0
    wait: float = 60.0
    queue: int = 200


class Door:
    """The ASGI middleware that admits or refuses requests.

    `roles`: (method, path) → the roles that may use it; `queried`: those of them that take a query; `shown`: paths of
    files that show nothing of the crawl, and need no token; `names`: the names by which the service may be called;
    `shared`: turns a refusal into one that pages of other origins may read, too, as they may read the answers of `app`.
    """

    def __init__(
        self,
        app: App,
        *,
        keeper: Gatekeeper,
        limits: Limits,
        names: Collection[str],
        roles: Mapping[tuple[str, str], Collection[str]],
        queried: Collection[tuple[str, str]] = (),
        shown: Collection[str] = (),
        without_token: bool = False,
        preflights: bool = False,
        shared: Callable[[App], App] = lambda app: app,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._keeper, self._limits, self._roles = app, keeper, limits, roles
        self._queried, self._shared = queried, shared
        self._open_paths = OPEN.union(shown)
        self._paths = self._open_paths | {path for _, path in roles}
        self._templates = [(path.partition("{")[0], path) for path in sorted(self._paths) if "{" in path]
        self._names = {name.lower().rstrip(".") for name in names}
        self._without_token, self._preflights, self._clock = without_token, preflights, clock
        self._rates, self._strangers = Buckets(limits.rate, clock), Strangers(clock)
        self._open = Places(limits.requests, limits.requests_of_one, limits.requests // 20, "requests are open")
        self._polls = Places(limits.polls, max(1, limits.polls // 2), 0, "long polls wait")
        most = HELD * limits.body, HELD_OF_ONE * limits.body
        self._bytes = Places(*most, 0, "bytes of requests are held")
        self._looking: asyncio.Task[bool] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, or handle a lifespan event."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        # Admit the request, and let the framework answer it.
        visit = _Visit(scope, send, self._clock)
        CURRENT_ID.set(visit.id)
        try:
            await self._app(scope, self._while_good(visit, await self._let_in(scope, receive, visit)), visit.send)
        # Each end has an answer, and gives back what the request held.
        except Refusal as refusal:
            await self._refuse(scope, receive, visit, refusal)
        except asyncio.CancelledError:  # at the second signal to stop, the server waits for no answer
            await visit.refuse(Refusal(503, "Stopping", "The service stops; try again.", try_again=True))
            raise
        except _Stalled:
            log.info("%s: its answer is not read", visit.id)
        except Exception:  # the caller must get an answer to an unforeseen error
            log.exception("%s failed", visit.id)
            await visit.refuse(Refusal(500, "Internal", "The service failed; its log has more, by the request's id."))
        finally:
            if visit.body is not None:
                visit.body.leave()
            if visit.seat is not None:
                visit.seat.leave()
            visit.note(self._template_of(scope))

    async def _refuse(self, scope: Scope, receive: Receive, visit: _Visit, refusal: Refusal) -> None:
        """Answer with the refusal, so that a page that may use the service can read the reason."""

        async def say(_scope: Scope, _receive: Receive, send: Send) -> None:
            await visit.refuse(refusal, send)

        try:
            # A preflight (OPTIONS) is not admitted by this: under a foreign name no request is.
            app = say if scope["method"] == "OPTIONS" else self._shared(say)
            await app(scope, receive, visit.send)
        except _Stalled:
            log.info("%s: its answer is not read", visit.id)

    async def _let_in(self, scope: Scope, receive: Receive, visit: _Visit) -> Receive:
        """Return the body of a request that may come in, for the framework to read. Raises Refusal."""
        # The head, and the name by which the service was called.
        self._check_size(scope)
        headers = dict(reversed(scope["headers"]))  # reversed, so that the first of several equal headers is kept
        self._check_host(_named(scope) or headers.get(b"host", b"").decode("latin-1"))
        if scope["path"] in self._open_paths or (self._preflights and scope["method"] == "OPTIONS"):
            return receive
        # The token, its role and its rate.
        visit.grant = await self._who(headers.get(b"authorization"), (scope.get("client") or ("",))[0])
        CALLER.set(visit.grant)
        verb = (scope["method"], self._template_of(scope))
        self._check_role(visit.grant, self._roles.get(verb))
        self._check_rate(visit.grant.name)
        # A place among the open requests, the query, the body.
        visit.seat = Seat(self._open, self._polls, visit.grant, kept=verb == SCRAPED)
        scope.setdefault("state", {}).update(grant=visit.grant, seat=visit.seat)
        if scope["query_string"] and verb in self._roles and verb not in self._queried:
            where = "takes its values in the JSON body" if scope["method"] == "POST" else "takes no values"
            raise Refusal(400, "BadInput", f"This verb {where}, and none in the address.")
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            return receive
        visit.body = Body(self._bytes, visit.grant, self._limits.body, self._limits.body_seconds)
        return await self._read(receive, headers.get(b"content-length"), visit.body)

    def _template_of(self, scope: Scope) -> str:
        """Return the path of the request as the service knows it; empty where it has no such path."""
        path: str = scope["path"]
        if path in self._paths:
            return path
        return next((name for head, name in self._templates if path.startswith(head)), "")

    @staticmethod
    def _check_size(scope: Scope) -> None:
        """Refuse a head that is too large. The parser's own bound is rough (`heads`)."""
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        if len(scope["headers"]) > MOST_HEADERS or (
            size + sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > LONGEST_HEAD
        ):
            raise TOO_LARGE

    def _check_host(self, text: str) -> None:
        """Refuse a foreign host name. A page in a browser can reach a service on loopback under a name of its own; the
        service answers under its own names and plain addresses only."""
        matched = HOST.fullmatch(text)
        name = "" if matched is None else (matched[1] or matched[2]).lower().rstrip(".")
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name)
            return
        if name not in self._names:
            raise Refusal(421, "Misdirected", "This service is not called so; 'graphbrain serve --name' names it.")

    def _look_again(self) -> asyncio.Task[bool]:
        """Read the tokens from the graph in the background. The result: whether the graph has answered."""

        async def look() -> bool:
            await asyncio.sleep(self._keeper.rests())
            try:
                await asyncio.to_thread(self._keeper.read)
            except GraphbrainError:
                return False
            return True

        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(look())
        return self._looking

    async def _know_since(self, moment: float) -> None:
        """Wait until the tokens are known as they were at this moment, or later. While the graph is away, or takes too
        long, those that are known hold."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                while not self._keeper.known_since(moment) and await asyncio.shield(self._look_again()):
                    pass

    async def _who(self, given: bytes | None, address: str) -> Grant:
        """Return the grant of this token. Raises Refusal, after a wait for an address that was refused often just
        now."""
        if self._without_token:
            return ANYBODY
        try:
            return await self._known_by(given, address)
        except Refusal as refusal:
            if refusal.status == 401:
                await self._strangers.pause(address)
            raise

    async def _known_by(self, given: bytes | None, address: str) -> Grant:
        # Read the token of the header.
        realm = {"WWW-Authenticate": 'Bearer realm="graphbrain"'}
        word, _, token = (given or b"").decode("latin-1").strip().partition(" ")
        if word.lower() != "bearer" or not token.strip():
            raise Refusal(401, "Unauthorized", "Send a token: 'Authorization: Bearer …'.", headers=realm)
        # An unknown token is looked up in the graph now. A known one is good for some seconds after the last reading.
        asked_at, grant = time.monotonic(), self._keeper.who(token.strip())
        needed = asked_at if grant is None else asked_at - HOLDS
        if not self._keeper.known_since(needed):
            async with self._strangers.looked_up(address) if grant is None else contextlib.nullcontext():
                await self._know_since(needed)
            grant = self._keeper.who(token.strip())
        elif not self._keeper.known_since(asked_at - READ_AHEAD):
            self._look_again()
        # Refuse what is still unknown, was revoked, or has expired.
        if grant is None and not self._keeper.known_since(needed):
            raise Refusal(
                503, "GraphUnavailable", "Neo4j does not answer, so no new token is accepted.", try_again=True
            )
        if grant is None:
            raise Refusal(401, "Unauthorized", "The token is not known, or was revoked.", headers=realm)
        if not grant.good(self._keeper.now()):
            raise Refusal(401, "Unauthorized", "The token has expired; an operator makes another.", headers=realm)
        return grant

    def _while_good(self, visit: _Visit, receive: Receive) -> Receive:
        """Return a `receive` that reports a disconnect once the token is no longer valid: then long polls end with
        nothing, and streams break off."""
        grant = visit.grant
        if grant is None or grant is ANYBODY:
            return receive

        async def next_message() -> Message:
            # It looks before it waits: Starlette asks for a disconnect by a call that it cancels as soon as it waits.
            # It reads the tokens itself: there may be no other request that does.
            while True:
                if not self._keeper.holds(grant):
                    return {"type": "http.disconnect"}
                if not self._keeper.known_since(time.monotonic() - READ_AHEAD):
                    self._look_again()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(READ_AHEAD):
                        return await receive()

        return next_message

    @staticmethod
    def _check_role(grant: Grant, wanted: Collection[str] | None) -> None:
        if wanted is not None and grant.role not in wanted:
            raise Refusal(403, "Forbidden", f"This is not for the role {grant.role}; it is for {' and '.join(wanted)}.")

    def _check_rate(self, name: str) -> None:
        wait = self._rates.draw(name)
        if wait:
            raise Refusal(
                429,
                "TooMany",
                f"At most {self._rates.rate:g} requests a second of one token.",
                try_again=True,
                headers={"Retry-After": str(max(1, round(wait)))},
            )

    async def _read(self, receive: Receive, length: bytes | None, body: Body) -> Receive:
        """Read the body to its end, and return a `receive` that yields it at once. Raise Refusal."""
        read = await body.read(receive, length)
        whole: list[Message] = [{"type": "http.request", "body": read, "more_body": False}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        return again


def _named(scope: Scope) -> str:
    """Return the server that the target of a request names, where it does: it takes precedence over the Host header.
    The path is the rest then."""
    matched = ABSOLUTE.fullmatch(scope["path"])
    if matched is None:
        return ""
    scope["path"] = matched[2] or "/"
    scope["raw_path"] = scope["path"].encode("utf-8", "surrogateescape")
    return matched[1] or "?"


class _Stalled(Exception):
    """The caller does not read the answer, or too slowly."""


class _Visit:
    """One request: its id, what was answered, and how long it took."""

    def __init__(self, scope: Scope, send: Send, clock: Callable[[], float]) -> None:
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        self.id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = self.id
        self.grant: Grant | None = None
        self.seat: Seat | None = None
        self.body: Body | None = None
        self._waited = 0.0
        self._method, self._send, self._clock = scope["method"], send, clock
        self._began, self._status, self._bytes = clock(), 0, 0

    async def send(self, message: Message) -> None:
        """Send a part of the answer on."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            more = {"x-request-id": self.id, "cache-control": "no-store", "x-content-type-options": "nosniff"}
            headers = [*message.get("headers", ()), *((k.encode(), v.encode()) for k, v in more.items())]
            message = {**message, "headers": headers}
            await self._hand_on(message)
            return
        body = message.get("body", b"")
        for start in range(AT_ONCE, len(body), AT_ONCE):
            await self._hand_on({**message, "body": body[start - AT_ONCE : start], "more_body": True})
        await self._hand_on({**message, "body": body[(len(body) - 1) // AT_ONCE * AT_ONCE :]} if body else message)

    async def _hand_on(self, message: Message) -> None:
        """Send a message to the network, when it has taken those before. Raises _Stalled where they are not read, or
        too slowly."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(STALLED):
                await self._send(message)
        except TimeoutError:
            raise _Stalled from None
        self._waited += time.monotonic() - began
        self._bytes += len(message.get("body", b""))
        if self._waited > STALLED and self._bytes < LEAST_PACE * self._waited:
            raise _Stalled

    async def refuse(self, refusal: Refusal, send: Send | None = None) -> None:
        """Answer that it is not done, if nothing was answered yet; by `send`, where something is before `self.send`."""
        if self._status:
            return
        send = send or self.send
        body = body_of(refusal)
        headers = {"content-type": "application/json", "content-length": str(len(body)), **refusal.headers}
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    def note(self, path: str) -> None:
        """Write the request to the log."""
        log.info(
            "%s %d %s %s %s %.1f ms %d bytes",
            self.id,
            self._status,
            self._method if path else "-",
            path or "(no such path)",
            self.grant.name if self.grant else "-",
            (self._clock() - self._began) * 1000,
            self._bytes,
        )
