"""The verbs of `Brain` as JSON over HTTP: the service, its tokens, its Python client, and the console in a browser.

`serve` runs it, `access` keeps the tokens by which callers are known. Every request passes `door`; the verbs are there
by topic, long work is in `jobs`. `client` is the other side of the connection, and `console` has the page of the
service.
May touch: HTTP (FastAPI, uvicorn; httpx for the client), certificate files named on the command line; the graph for its
tokens alone.
"""

__all__ = [
    "access",
    "serve",
]
