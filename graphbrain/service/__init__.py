"""The verbs of `Brain` as JSON over HTTP: service, tokens, Python client, console in a browser, metrics for Prometheus.

`serve` runs it, `access` keeps the tokens by which callers are known. Every request passes `door`; the verbs are there
by topic, long work is in `jobs`. `client` is the other side of the connection, `console` has the page of the service,
and `metrics` the figures that it and other programs expose.
May touch: HTTP (FastAPI, uvicorn; httpx for the client), a thread and a port, certificate files named on the command
line; the graph for its tokens alone.
"""

__all__ = [
    "access",
    "metrics",
    "serve",
]
