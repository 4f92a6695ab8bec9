"""A port at which Prometheus finds the metrics of a process that serves nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import start_http_server

from graphbrain.base.errors import GraphbrainError
from graphbrain.service.metrics.meter import Meter

__all__ = ["served"]


@contextmanager
def served(meter: Meter, host: str, port: int) -> Iterator[int]:
    """Serve the meter's exposition at this address within the block, and yield the port.

    A port of 0 lets the system choose one.

    Raises:
        GraphbrainError: The address cannot be bound.
    """
    try:
        server, thread = start_http_server(port, host, meter.registry)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise GraphbrainError(f"The metrics cannot be served at {host}:{port} ({why}); name another port.") from None
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
