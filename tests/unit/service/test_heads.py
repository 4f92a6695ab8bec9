"""Heads of requests, over real sockets: what is too large is refused before it costs anything, and
others are answered meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphbrain.service import heads
from graphbrain.service.door import Door, Limits
from graphbrain.service.heads import LONGEST_HEAD, MOST_HEADERS, protocol
from graphbrain.service.serve import KEEP_ALIVE


def _readable(origin: str) -> dict[str, str]:
    """Pages of one origin may read what is refused."""
    return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"} if origin == "https://desk.example" else {}


SLOW = 0.2


async def _behind(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the path and the length of the body."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    if scope["path"] == "/slow":
        await asyncio.sleep(SLOW)
    said = f"{scope['path']} {size} {len(scope['headers'])}".encode()
    headers = [(b"content-length", str(len(said)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": said})


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a door that lets everybody in."""
    app: Any = Door(_behind, keeper=None, limits=Limits(rate=0), names=["service"], roles={}, without_token=True)  # type: ignore[arg-type]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app,
            http=protocol(_readable),
            lifespan="off",
            log_config=None,
            ws="none",
            timeout_keep_alive=KEEP_ALIVE,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        until = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive() and time.monotonic() < until
            time.sleep(0.01)
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(60)


def told(port: int, *parts: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to a request that is sent in these parts; 0: hung up without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as there:
        with contextlib.suppress(OSError):
            for part in parts:
                there.sendall(part)
        got = b""
        with contextlib.suppress(OSError):
            while more := there.recv(65536):
                got += more
                head, _, body = got.partition(b"\r\n\r\n")
                names = dict(line.decode().lower().split(": ", 1) for line in head.split(b"\r\n")[1:])
                if len(body) >= int(names.get("content-length", 1 << 30)):
                    return int(head[9:12]), names, body
    return 0, {}, b""


def head(*headers: bytes, target: bytes = b"/x", host: bytes = b"service") -> bytes:
    return b"\r\n".join([b"POST %s HTTP/1.1" % target, b"Host: " + host, *headers, b"", b""])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.sampled_from((0, 1, 10, 500, 8_000, 30_000, 70_000, 400_000)), max_size=12),
    names=st.sampled_from((0, 0, 0, 50, 99, 150, 3_000)),
    cuts=st.integers(1, 7),
)
def test_heads_of_any_size(port: int, values: list[int], names: int, cuts: int) -> None:
    headers = [b"X-%d: " % number + b"v" * size for number, size in enumerate(values)]
    headers += [b"Y-%d: 1" % number for number in range(names)]
    whole = head(*headers)
    step = max(1, len(whole) // cuts)
    status, facts, body = told(port, *(whole[at : at + step] for at in range(0, len(whole), step)))
    if len(headers) + 1 <= MOST_HEADERS and len(whole) < LONGEST_HEAD - 5_000:
        assert status == 200, body
    elif len(headers) + 1 > MOST_HEADERS or len(whole) > LONGEST_HEAD + 5_000:
        # Who goes on sending may lose the answer with the connection.
        assert status in (431, 0)
        if status:
            error = json.loads(body)["error"]
            assert error["type"] == "HeadTooLarge" and error["request_id"] == facts["x-request-id"]


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        (b"POST /x HTTP/1.1\r\nHost: service\r\nX-A: ", b"a" * 65_536),
        (b"POST /x HTTP/1.1\r\nHost: service\r\n", b"X: a\r\n" * 10_000),
        (b"POST /", b"x" * 65_536),
        (b"", b"\r\n" * 30_000),
        (b"POST /x HTTP/1.1\r\nHost: service\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"t" * 65_536),
        (b"POST /x HTTP/1.1\r\nHost: service\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: t\r\n" * 10_000),
        (b"POST /x HTTP/1.1\r\nHost: service\r\nTransfer-Encoding: chunked\r\n\r\n1;e=", b"e" * 65_536),
    ],
    ids=["value", "headers", "target", "lines", "trailer", "trailers", "extension"],
)
def test_what_never_ends_is_cut_off_and_costs_others_nothing(port: int, begins: bytes, goes_on: bytes) -> None:
    over = threading.Event()
    waits: list[float] = []

    def ask() -> None:
        while not over.is_set():
            began = time.monotonic()
            assert told(port, head(target=b"/healthz"))[0] == 200
            waits.append(time.monotonic() - began)

    others = threading.Thread(target=ask)
    others.start()
    sent = len(begins)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as there, pytest.raises(OSError):
            there.sendall(begins)
            for _ in range(2_000):
                there.sendall(goes_on)
                sent += len(goes_on)
    finally:
        over.set()
        others.join()
    assert sent < 20_000_000, "as much as lies in the buffers of two sockets, and no more"
    assert waits and max(waits) < 1.0


def test_a_head_that_does_not_end_is_hung_up(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "HEAD_SECONDS", 0.3)
    for begins in (b"", b"POST /x HTT", head()[:-2]):
        status, _, body = told(port, begins)
        assert status == 408 and json.loads(body)["error"]["try_again"]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as there:
        for _ in range(3):  # what has been answered may wait for its next request
            there.sendall(head())
            assert there.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(0.4)


def test_what_is_no_http_is_refused_in_the_documented_form(port: int) -> None:
    for nonsense in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"GET /x HTTP/1.1\r\nA B: c\r\n\r\n"):
        status, facts, body = told(port, nonsense)
        error = json.loads(body)["error"]
        assert status == 400 and error["type"] == "BadInput" and not error["try_again"]
        assert facts["content-type"] == "application/json" and error["request_id"] == facts["x-request-id"]


@pytest.mark.parametrize("origin", [b"https://desk.example", b"https://evil.example", None])
@pytest.mark.parametrize(
    "rest", [b"X: " + b"x" * 200_000, b"Y: 1\r\n" * 150 + b"\r\n", b"no header\r\n\r\n"], ids=["431", "door", "400"]
)
def test_what_a_parser_refuses_can_be_read_by_pages_that_may(port: int, origin: bytes | None, rest: bytes) -> None:
    begins = b"GET /x HTTP/1.1\r\nHost: service\r\n"
    line = b"" if origin is None else b"oRigin: %s\r\n" % origin
    good = begins + b"Origin: https://desk.example\r\n\r\n"  # the origin of an earlier request does not count
    with socket.create_connection(("127.0.0.1", port), timeout=20) as there:
        there.sendall(good)
        while b"/x 0 " not in there.recv(65_536):  # until it is answered
            pass
        there.sendall(begins + line + rest)
        got = there.recv(65_536).lower()
    assert got[9:12] in (b"431", b"400"), got
    if b"431" in got[:13] and rest.startswith(b"Y"):
        return  # it is refused by the door, behind which CORS is
    assert (b"access-control-allow-origin: https://desk.example" in got) is (origin == b"https://desk.example")
    assert b"evil" not in got


def test_who_is_hung_up_on_while_requests_wait_leaves_no_traceback(port: int, caplog: pytest.LogCaptureFixture) -> None:
    """Good requests, and behind them in the same packet what is no HTTP."""
    for _ in range(5):
        told(port, head(target=b"/slow") * 3 + b"\x00\r\n\r\n")
    assert told(port, head())[0] == 200
    time.sleep(2 * SLOW)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR], caplog.text


def test_the_server_in_the_target_counts_and_not_what_host_says(port: int) -> None:
    assert told(port, head(target=b"http://service/x?q=1"))[2].startswith(b"/x ")
    assert told(port, head(target=b"http://service:80/x", host=b"evil.example"))[0] == 200
    for target in (b"http://evil.example/x", b"https://evil.example/healthz", b"http://user@service/x", b"http:///x"):
        assert told(port, head(target=target))[0] in (400, 421), target


def test_trailers_are_no_headers(port: int) -> None:
    whole = head(b"Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\nHost: evil.example\r\nX: y\r\n\r\n"
    assert told(port, whole)[2] == b"/x 3 2"
    assert asyncio.run(_twice(port)) == [200, 200]


async def _twice(port: int) -> list[int]:
    """Two requests in one packet, the first with a trailer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head(b"Transfer-Encoding: chunked") + b"0\r\nX: y\r\n\r\n" + head(b"Content-Length: 0"))
    found = []
    for _ in range(2):
        found.append(int((await reader.readuntil(b"\r\n\r\n"))[9:12]))
        await reader.readexactly(len(b"/x 0 2"))
    writer.close()
    return found
