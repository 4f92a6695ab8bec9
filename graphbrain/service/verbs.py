"""The path of a verb: its name, with its roles, answer and example in the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Send

from graphbrain.base.records import plain
from graphbrain.brain.brain import VERBS
from graphbrain.content.input_checks import LONGEST_NAME
from graphbrain.service.access import Grant
from graphbrain.service.answers import EXAMPLES, example_of
from graphbrain.service.backend import Backend
from graphbrain.service.declared import answer_of, asked_by, line_of

__all__ = [
    "BEGUN",
    "EXAMPLE",
    "NDJSON",
    "Asked",
    "Caller",
    "IdempotencyKey",
    "LinesResponse",
    "Service",
    "json_answer",
    "line",
    "path",
    "route",
]

F = TypeVar("F", bound=Callable[..., Any])
BEGUN = 202
"""The status of an answer about a job that has begun."""
USED: Mapping[int, str] = {409: "The Idempotency-Key was used for another request."}
NDJSON = "application/x-ndjson"
EXAMPLE = "x-example"
"""The key for the name of its example until the document is made: nulls in the example would get lost on the way."""


class LinesResponse(StreamingResponse):
    """JSON lines, sent as they are read."""

    media_type = NDJSON

    async def stream_response(self, send: Send) -> None:
        """Close the iterator however the response ends: without that it would wait in the middle for ever."""
        lines: Any = self.body_iterator
        async with aclosing(lines):
            await super().stream_response(send)


class JsonAnswer(JSONResponse):
    """An answer of JSON. Records, sets and numbers of numpy are made plain."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, default=plain).encode()


# These are coroutines, though they wait for nothing: the framework runs functions in a thread, which takes .5 ms.
async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


async def _caller(request: Request) -> Grant:
    grant: Grant = request.state.grant
    return grant


Service = Annotated[Backend, Depends(_backend)]
Caller = Annotated[Grant, Depends(_caller)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=LONGEST_NAME,
        pattern=r"^[!-~]+$",
        description="Made by the caller, new for each request: repeated with the same one, a request whose answer was "
        "lost gets the same answer, and nothing is done twice.",
        examples=["0c1d3a52-6a5d-4b55-9b8e-9d2f1a3c7e11"],
    ),
]
Asked = Request


def json_answer(value: Any, status: int = 200) -> Response:
    """Return an answer of JSON."""
    return JsonAnswer(value, status)


def line(item: Any) -> bytes:
    """Return an item as a line of JSON."""
    return json.dumps(item, allow_nan=False, default=plain).encode() + b"\n"


def route(router: APIRouter, name: str, texts: Sequence[str] = ()) -> Callable[[F], F]:
    """Return the decorator that gives a declared verb its path. The function's parameter `body` or `query` takes the
    request that is declared. `texts`: the types of answers that are no JSON."""
    # The path as it follows from the declaration.
    verb = VERBS[name]
    tag = "jobs" if verb.long else "looking" if verb.reads else "crawling" if "crawler" in verb.roles else "correcting"
    declare = path(
        router,
        "GET" if verb.reads else "POST",
        verb.name,
        verb.roles,
        None if texts else answer_of(verb),
        texts=texts,
        meaning=verb.meaning,
        example="job" if verb.long else "done" if verb.field == "done" and line_of(verb) is None else verb.name,
        lines=line_of(verb),
        status=BEGUN if verb.long else 200,
        may={**(USED if verb.long else {}), **verb.also},
        tag=tag,
    )

    # The framework reads the type of the request from the annotation of the function.
    def typed(function: F) -> F:
        if (request := asked_by(verb)) is not None:
            function.__annotations__[request[0]] = request[1]
        return declare(function)

    return typed


def path(
    router: APIRouter,
    method: str,
    name: str,
    roles: Sequence[str],
    answer: Any,
    *,
    meaning: str | None = None,
    example: str | None = None,
    lines: Any = None,
    texts: Sequence[str] = (),
    status: int = 200,
    may: Mapping[int, str] | None = None,
    tag: str | None = None,
) -> Callable[[F], F]:
    """Return the decorator of a path.

    Args:
        router: The router that gets it.
        method: The method of HTTP.
        name: The path after /v1/.
        roles: The roles that may use it.
        answer: The type that describes its answer; None: it is no JSON, or lines.
        meaning: What the document has about it; None: the docstring of the function.
        example: The name of the example of its answer; None: made from the type of the answer.
        lines: The type of each line of an answer of JSON lines; None: it is none.
        texts: The types of other texts by which it may be answered; with an `answer` of None, of all.
        status: The status of an answer.
        may: Its own refusals, by status.
        tag: Its group in the document.
    """
    # The example of the answer, and the responses by their statuses.
    text = "JSON lines, each as in the example; one with an 'error' has the reason." if lines else "Done."
    shown = example or name
    if shown not in EXAMPLES:
        EXAMPLES[shown] = example_of(answer if lines is None else lines)
    kinds = (NDJSON,) if lines else texts
    content = {"content": {kind: {"schema": {"type": "string"}} for kind in kinds}} if kinds else {}
    model = {} if answer is None else {"model": answer}
    responses = {status: {"description": text, **model, **content}, **failures(may)}

    # The decorator, which registers the path.
    def declare(function: F) -> F:
        decorated: F = router.api_route(
            f"/v1/{name}",
            methods=[method],
            operation_id=name if name.isidentifier() else function.__name__,
            status_code=status,
            response_model=None,
            response_class=LinesResponse if lines else JsonAnswer if answer is not None else Response,
            responses=responses,
            description=meaning,
            tags=None if tag is None else [tag],
            openapi_extra={"x-roles": list(roles), "security": [{"token": []}], EXAMPLE: shown},
        )(function)
        return decorated

    return declare


def failures(may: Mapping[int, str] | None = None) -> dict[int | str, dict[str, Any]]:
    """Return the description of refusals in the document: those of all verbs, and these."""
    return {
        code: {"description": words, "content": {"application/json": {"schema": {"$ref": ERROR}}}}
        for code, words in {**_ALWAYS, **(may or {})}.items()
    }


ERROR = "#/components/schemas/ErrorAnswer"
_ALWAYS = {
    400: "The input cannot be used.",
    401: "No token, or none that is good.",
    403: "Not for this role.",
    404: "No such page, host, or path.",
    408: "The body took too long to arrive.",
    413: "Too large a body.",
    421: "The service is not called so.",
    429: "Too many requests of this token, or too many jobs.",
    500: "The service failed.",
    502: "Neo4j refused.",
    503: "Neo4j does not answer, or too much is to be done; try again.",
}
