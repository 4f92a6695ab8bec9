"""The service: the verbs of `Brain` as JSON over HTTP, for crawlers and analysts in any language.

`serve` runs it, `access` keeps the tokens by which callers are known; the rest is inside: the door that every request
passes (`door`), the verbs by topic, and long work (`jobs`).
May touch: HTTP (FastAPI, uvicorn), certificate files named on the command line; the graph for its tokens alone.
"""

__all__ = ["access", "serve"]
