"""The refusals of the service: one form of JSON, and a status for each error.

    {"error": {"type": "UnknownPage", "message": "… is not in the graph.", "try_again": false, "request_id": "…"}}

`type` is a class of `graphbrain.errors`, or one of the words below for refusals that only a service makes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from graphbrain.base.errors import (
    BadInput,
    BeingConverted,
    Cancelled,
    GraphbrainError,
    GraphRefused,
    GraphTooSmall,
    GraphUnavailable,
    NoScore,
    SchemaMismatch,
    SettingsError,
    UnknownHost,
    UnknownPage,
    UnknownQuestion,
)

__all__ = ["CURRENT_ID", "STATUSES", "Refusal", "body_of", "refusal_of", "validation_sentence"]

STATUSES: tuple[tuple[type[GraphbrainError], int], ...] = (
    (UnknownPage, 404),
    (UnknownHost, 404),
    (UnknownQuestion, 404),
    (NoScore, 409),
    (BadInput, 400),
    (SettingsError, 400),
    (BeingConverted, 503),
    (Cancelled, 503),
    (GraphUnavailable, 503),
    (GraphTooSmall, 503),
    (SchemaMismatch, 503),
    (GraphRefused, 502),
    (GraphbrainError, 400),
)
"""The status of each error, by the first class that fits."""
KEPT_IN: tuple[tuple[type[GraphbrainError], str], ...] = (
    (GraphUnavailable, "Neo4j does not answer; try again."),
    (GraphTooSmall, "Neo4j has too little memory for what was asked; do less at once."),
    (GraphRefused, "Neo4j refused; the service's log has the reason."),
)
"""Error → the message for callers, in place of its own, which names the database and its user, and is logged."""
log = logging.getLogger("graphbrain.service")
CURRENT_ID: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request that is being answered."""
SOON = 1
"""The Retry-After of refusals, in seconds."""


class Refusal(Exception):
    """A request that is not done; `kind` is the `type` of its JSON."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        try_again: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.try_again = status, kind, message, try_again
        self.headers = dict(headers or {})
        if try_again:
            self.headers.setdefault("Retry-After", str(SOON))

    def as_dict(self) -> dict[str, Any]:
        """Return its JSON, without the id of a request."""
        return {"type": self.kind, "message": self.message, "try_again": self.try_again}


def refusal_of(error: GraphbrainError) -> Refusal:
    """Return the refusal for an error of the brain."""
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    words = next((words for kind, words in KEPT_IN if isinstance(error, kind)), None)
    if words is not None:
        log.warning("%s: %s", type(error).__name__, error)
    return Refusal(status, type(error).__name__, words or str(error), try_again=error.try_again)


def body_of(refusal: Refusal) -> bytes:
    """Return the JSON of a refusal."""
    return json.dumps({"error": {**refusal.as_dict(), "request_id": CURRENT_ID.get()}}).encode()


def validation_sentence(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return the first error of a request in a sentence, without the value itself."""
    first = errors[0] if errors else {}
    kind = first.get("type", "")
    if kind == "json_invalid":
        return "The body is not JSON."
    where = [str(part) for part in first.get("loc", ())]
    field = ".".join(where[1:]) or "the body"
    if kind in ("model_attributes_type", "model_type") and len(where) < 2:
        return "Send a JSON object, with 'Content-Type: application/json'."
    if kind == "extra_forbidden":
        return f"There is no {field!r} here; the names that there are: see /openapi.json."
    if kind == "missing":
        return "A body of JSON is needed." if len(where) < 2 else f"{field!r} is missing."
    message = str(first.get("msg", "it cannot be used"))
    return f"{field!r} cannot be used: {message[:1].lower()}{message[1:]}."
