"""HTTP as it arrives: heads are bounded before the parser keeps them.

The parser, httptools, gathers what belongs to a header until the header ends, however long it is, and the framework
sees nothing before that. So the limits are here: what the parser has taken without making anything of it, and the time
that a head may take, which uvicorn does not limit. The exact size of a head that is complete, and how many headers it
has, the door checks. uvicorn's other parser, h11, bounds what it gathers, and takes longer for each request
(docs/benchmarks/service.md).
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from graphbrain.service.refusals import CURRENT_ID, Refusal, body_of

__all__ = ["LONGEST_HEAD", "MOST_HEADERS", "TOO_LARGE", "protocol"]

LONGEST_HEAD = 65_536
"""Bytes of a request line and its headers."""
MOST_HEADERS = 100
HEAD_SECONDS = 30.0
"""A head must be complete so long after its connection was made, or after its first byte."""
SLICE = 16_384
"""Bytes that the parser is given at a time."""
LINGERS, LINGERS_FOR = 1.0, 1_048_576
"""Seconds for which, and bytes up to which, what a refused caller still sends is read and thrown away. If the
connection were closed at once, the caller would lose the answer."""
TOO_LARGE = Refusal(
    431, "HeadTooLarge", f"The head of a request has at most {LONGEST_HEAD:,} bytes and {MOST_HEADERS} headers."
)
MALFORMED = Refusal(400, "BadInput", "This is not HTTP as the service reads it.")
TOO_SLOW = Refusal(408, "TimedOut", f"The head of the request did not arrive in {HEAD_SECONDS:g} s.", try_again=True)
_ORIGIN = re.compile(rb"\r?\norigin:[ \t]*([!-~]+)[ \t]*\r?\n", re.IGNORECASE)


class _Bounded(HttpToolsProtocol):
    """A connection. It refuses in the documented form, and limits the size of a head and the time in which it must
    arrive."""

    readable: Callable[[str], Mapping[str, str]]
    """Returns the headers by which pages of an origin may read what is refused."""
    _late: asyncio.TimerHandle | None = None
    _thrown_away: int | None = None
    """Bytes that came after the refusal; None: nothing was refused."""
    _idle = 0
    """Bytes that the parser was given since it made something of them."""
    _in_head = True
    _moved = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head = bytearray()
        """The part of a head that has come: the parser drops it where it cannot read it."""
        self._cycles: list[Any] = []
        """The requests that are not answered: uvicorn reports a disconnect to the last one alone."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), SLICE):
            self._receive(data[start : start + SLICE])
            if self.transport.is_closing():
                return

    def _receive(self, part: bytes) -> None:
        if self._thrown_away is not None:
            self._thrown_away += len(part)
            if self._thrown_away > LINGERS_FOR:
                self.transport.close()
            return
        self._moved = False
        self._head += part[: LONGEST_HEAD - len(self._head)]
        super().data_received(part)
        if not self._in_head:  # it belongs to a body
            self._head.clear()
        self._idle = 0 if self._moved else self._idle + len(part)
        if self._idle > LONGEST_HEAD:
            self._refuse(TOO_LARGE)

    def connection_lost(self, error: Exception | None) -> None:
        self._head_is_there()
        self._report_disconnect()
        super().connection_lost(error)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's own words
        """Refuse what the parser cannot read."""
        self._refuse(MALFORMED)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        self._await_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # of trailers, which come behind a body, the service uses none
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._moved = False, True
        self._head_is_there()
        super().on_headers_complete()
        self._cycles = [cycle for cycle in (*self._cycles, self.cycle) if not cycle.response_complete]
        if not self.url.startswith(b"/"):  # the door looks at the whole target
            target: Any = self.url.partition(b"?")[0]
            self.scope["raw_path"], self.scope["path"] = target, unquote(target.decode("ascii"))

    def on_body(self, body: bytes) -> None:
        self._moved = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._moved = True
        super().on_message_complete()

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _head_is_there(self) -> None:
        self._head.clear()
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _report_disconnect(self) -> None:
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.message_event.set()

    def _too_late(self) -> None:
        self._late = None
        self._refuse(TOO_SLOW)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer with the reason, and hang up once the caller has stopped to send."""
        if self.transport.is_closing() or self._thrown_away is not None:
            return
        # Write the answer in the documented form, for pages of other origins, too.
        origin = _ORIGIN.search(bytes(self._head))
        self._head_is_there()
        name = uuid.uuid4().hex
        before = CURRENT_ID.set(name)
        body = body_of(refusal)
        CURRENT_ID.reset(before)
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "x-request-id": name,
            "connection": "close",
            **{key.lower(): value for key, value in refusal.headers.items()},
            **self.readable(origin[1].decode("ascii") if origin else ""),
        }
        # Send it, and hang up at once or after what the caller still sends.
        status = HTTPStatus(refusal.status)
        lines = [f"HTTP/1.1 {status:d} {status.phrase}", *(f"{key}: {value}" for key, value in headers.items())]
        self.transport.write("\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body)
        if self.cycle is not None and not self.cycle.response_complete:
            self._report_disconnect()
            self.transport.close()  # another answer is under way, and would follow
            return
        self._thrown_away = 0
        self.loop.call_later(LINGERS, self.transport.close)


def protocol(readable: Callable[[str], Mapping[str, str]]) -> type[asyncio.Protocol]:
    """Return the class that reads HTTP. `readable`: returns the headers by which pages of an origin may read an
    answer."""
    return type("Bounded", (_Bounded,), {"readable": staticmethod(readable)})
