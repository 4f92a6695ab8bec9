"""One request of a client, and what both clients share of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from graphbrain.base.errors import BadInput, ServiceRefused
from graphbrain.base.urls.hostnames import is_loopback
from graphbrain.service.client import shapes

__all__ = ["LONGEST_ANSWER", "LONGEST_WAIT", "SOFTLY", "Call", "Job", "address", "get", "in_parts", "new_key", "post"]

LONGEST_WAIT = 30.0
"""Seconds of one long poll; longer ones are several requests."""
LONGEST_ANSWER = 300.0
"""Seconds that a service takes for a question at most."""
SOFTLY = 0.5
"""Seconds between two looks at a job."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request.

    Attributes:
        method: The method of HTTP.
        path: The path after /v1/.
        query: The values in the address.
        body: Its JSON.
        key: By it the service knows a repeated one.
        seconds: The time that the service may take beside what every request may.
        repeats: True if the service answers soon, and again if asked again: a request whose answer hangs is made again.
        text: The type of an answer that is no JSON.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: str | None = None
    key: str | None = None
    seconds: float = 0.0
    repeats: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Long work. `progress` is called with (step, done, of), or without the step if it is not `named`; `stop` is asked
    whether it ends."""

    progress: Callable[..., None] | None = None
    named: bool = True
    stop: Callable[[], bool] = lambda: False

    def tell(self, answer: Mapping[str, Any]) -> None:
        """Call `progress` with the progress of the job."""
        if self.progress is not None:
            facts = answer["progress"]
            self.progress(*([facts["doing"]] if self.named else []), facts["done"], facts["of"])

    @staticmethod
    def result(answer: Mapping[str, Any]) -> Any:
        """Return the result of a job that has ended. Raises its error."""
        if answer["state"] == "failed":
            raise shapes.error_of(answer)
        if answer["result"] is None and answer["state"] == "stopped":
            raise ServiceRefused(f"The job ({answer['verb']}) was stopped.")
        return answer["result"]


def get(path: str, query: Mapping[str, Any] | None = None, **more: Any) -> Call:
    """Return a request that reads. What is None is left out."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in (query or {}).items()
        if value is not None
    }
    return Call("GET", path, given, **more)


def post(path: str, body: Mapping[str, Any], **more: Any) -> Call:
    """Return a request with a body. What is `...` is left out."""
    return Call("POST", path, body=shapes.dumps({n: value for n, value in body.items() if value is not ...}), **more)


def in_parts(path: str, name: str, items: Any, more: str = "", *, repeats: bool = False) -> Iterator[Call]:
    """Yield requests with as many items as one may have, one request at least.

    Raises:
        BadInput: The items are one text.
    """
    if isinstance(items, str | bytes):
        raise BadInput(f"{path} takes a list of {'URLs' if name == 'urls' else name}, not one.")
    pairs = isinstance(items, Mapping)
    opens, closes = "{}" if pairs else "[]"
    for part in shapes.parts(items.items() if pairs else (shapes.item(each, name) for each in items)):
        body = f'{{"{name}": {opens}{", ".join(part)}{closes}{more}}}'
        yield Call("POST", path, body=body, repeats=repeats)


def new_key() -> str:
    """Return a new idempotency key."""
    return uuid.uuid4().hex


def address(url: str | None, token: str | None, without_tls: bool) -> tuple[str, str]:
    """The service's address and the token, from arguments or the environment. Raises BadInput, also where the token
    would go over a network in the clear."""
    url = url or os.environ.get("GRAPHBRAIN_SERVICE_URL", "")
    token = token or os.environ.get("GRAPHBRAIN_SERVICE_TOKEN", "")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise BadInput(f"A service's address is like 'https://brain.example:8770', not {url!r:.80}.")
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise BadInput("That is no token: it has characters that none has.")
    if parts.scheme == "http" and token and not without_tls and not is_loopback(parts.hostname):
        raise BadInput(f"The token would go to {parts.hostname} in the clear: use https, or give without_tls=True.")
    return url.rstrip("/"), token
