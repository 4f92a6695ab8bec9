"""Running the service: one process, stopped in order.

At a signal to stop (Ctrl-C, SIGTERM) it accepts no more connections, ends long polls, answers the requests in flight,
stops jobs between two transactions, and closes the brain. A second Ctrl-C does not wait for answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.hostnames import is_loopback
from graphbrain.brain.brain import Brain
from graphbrain.service.app import Application, Terms
from graphbrain.service.bodies import LONGEST_NUMBER
from graphbrain.service.door import Limits
from graphbrain.service.heads import protocol

__all__ = ["Limits", "ListenAddress", "Terms", "configured", "serve"]

GRACE = 20
"""Seconds in which requests in flight must be answered. A stop, with the ends of jobs and threads, takes at most 30."""
LAST_ANSWER = 6.0
"""Seconds for which the answer of a statement is waited for after the signal: slow ones have GRACE."""
LAST_TRIES = 3.0
"""Seconds for which a service that stops goes on trying where Neo4j does not answer."""
KEEP_ALIVE = 65
"""Longer than a long poll, so that a connection outlives a pause of its client."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """The address and the certificate of the service. `without_tls`: an address that others can reach needs no
    certificate."""

    host: str = "127.0.0.1"
    port: int = 8770
    certificate: Path | None = None
    key: Path | None = None
    without_tls: bool = False

    def checked(self, without_token: bool) -> ListenAddress:
        """Return this address. Raise BadInput, with what to do, if it is not safe."""
        if without_token and not is_loopback(self.host):
            raise BadInput(f"Only this machine may use the service without a token; {self.host} is for others, too.")
        if (self.certificate is None) != (self.key is None):
            raise BadInput("TLS needs both files: --cert and --key.")
        if not is_loopback(self.host) and self.certificate is None and not self.without_tls:
            raise BadInput(
                f"Tokens and pages would go to {self.host} in the clear: give --cert and --key, "
                "or --without-tls where something before the service does TLS."
            )
        if self.certificate is not None:
            try:
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self.certificate, self.key)
            except (OSError, ssl.SSLError) as error:
                raise BadInput(f"{self.certificate} and {self.key} are no certificate and its key ({error}).") from None
        return self


class _Server(uvicorn.Server):
    """A uvicorn server that informs the service at once of a stop, and does not raise the signal again at the end."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None], on_start: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_stop, self._on_start = on_stop, on_start
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            where = sockets[0].getsockname() if sockets else ("", 0)
            host = f"[{where[0]}]" if ":" in where[0] else where[0]
            self._on_start(f"{'https' if self.config.is_ssl else 'http'}://{host}:{where[1]}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._on_stop)
        super().handle_exit(sig, frame)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM stop it while it serves; nothing is raised when it has stopped."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    brain: Brain, address: ListenAddress, terms: Terms, *, say: Callable[[str], None], on_start: Callable[[str], None]
) -> None:
    """Serve a brain until a signal stops it. `on_start` gets the address once it answers there. Raises BadInput for an
    address that is not safe, or that is in use."""
    address.checked(terms.without_token)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    sys.set_int_max_str_digits(LONGEST_NUMBER)
    service = Application(brain, terms)

    def stop() -> None:
        service.stop()
        brain.graph.hurry(LAST_TRIES, longest=LAST_ANSWER)

    with _listening(address) as listener:
        _Server(configured(service, address), stop, on_start).run(sockets=[listener])
    say("graphbrain: the service has stopped.")


def configured(service: Application, address: ListenAddress) -> uvicorn.Config:
    """Return uvicorn's configuration. Its own log is off: it has whole addresses, in which anything may be."""
    logging.getLogger("uvicorn.access").setLevel(logging.CRITICAL + 1)
    return uvicorn.Config(
        service,
        http=protocol(service.readable),
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )


@contextlib.contextmanager
def _listening(address: ListenAddress) -> Iterator[socket.socket]:
    """A socket that listens there. Raises BadInput."""
    try:
        address_info = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(address_info[0], socket.SOCK_STREAM)
    except OSError as error:
        raise BadInput(f"{address.host} is no address of this machine ({error.strerror or error}).") from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address_info[4])
        except OSError as error:
            raise BadInput(
                f"The service cannot listen on {address.host}, port {address.port} ({error.strerror}); "
                "give another --port."
            ) from None
        yield listener
