"""The declaration of a verb: its path is its name, and its roles, answer and example are in the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, model_validator
from starlette.types import Send

from graphbrain.content.input_checks import LONGEST_NAME
from graphbrain.service.access import ROLES, Grant
from graphbrain.service.backend import Backend

__all__ = [
    "CRAWLERS",
    "EVERYBODY",
    "EXAMPLE",
    "NDJSON",
    "OPERATORS",
    "READERS",
    "Asked",
    "Body",
    "Caller",
    "IdempotencyKey",
    "LinesResponse",
    "Nothing",
    "Query",
    "Service",
    "done",
    "json_answer",
    "line",
    "verb",
]

F = TypeVar("F", bound=Callable[..., Any])
CRAWLERS: tuple[str, ...] = ("crawler", "operator")
READERS: tuple[str, ...] = ("analyst", "operator")
OPERATORS: tuple[str, ...] = ("operator",)
EVERYBODY: tuple[str, ...] = ROLES
NDJSON = "application/x-ndjson"
EXAMPLE = "x-example"
"""The key for the name of its example until the document is made: nulls in the example would get lost on the way."""


class Body(BaseModel):
    """The body of a request: no names but those there are, each in its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, said: Any) -> Any:
        """JSON has one kind of numbers: 5.0 is the whole number 5."""
        if not isinstance(said, dict):
            return said
        return {
            name: int(each) if isinstance(each, float) and each.is_integer() else each for name, each in said.items()
        }


class Nothing(Body):
    """An empty object, which is also the default."""


class Query(BaseModel):
    """The query of a request."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class LinesResponse(StreamingResponse):
    """JSON lines, sent as they are read."""

    media_type = NDJSON

    async def stream_response(self, send: Send) -> None:
        """Close the iterator however the response ends: without that it would wait in the middle for ever."""
        lines: Any = self.body_iterator
        async with aclosing(lines):
            await super().stream_response(send)


class JsonAnswer(JSONResponse):
    """JSON; what json does not know is made plain."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, default=plain).encode()


# Coroutines, though they wait for nothing: the framework runs plain functions in a thread, for .5 ms each.
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


def plain(value: Any) -> Any:
    """Return the plain value of a type that json does not know: numpy's numbers, sets."""
    return value.item() if hasattr(value, "item") else sorted(value)


def line(item: Any) -> bytes:
    """Return an item with `as_dict` as a line of JSON."""
    return json.dumps(item.as_dict(), allow_nan=False, default=plain).encode() + b"\n"


def done(value: bool | int | None = None) -> Response:
    """Return the answer of a verb that has no other than that it is done, or a number."""
    return json_answer({"done": value})


def verb(
    router: APIRouter,
    method: str,
    name: str,
    roles: Sequence[str],
    answer: Any,
    *,
    example: str | None = None,
    lines: bool = False,
    texts: Sequence[str] = (),
    status: int = 200,
    may: Mapping[int, str] | None = None,
) -> Callable[[F], F]:
    """Declare a verb of the service.

    `answer` describes its answer, or each line of it (`lines`). `texts`: the types of other texts by which it may be
    answered; with an `answer` of None, of all.
    """
    text = "JSON lines, each as in the example; one with an 'error' has the reason." if lines else "Done."
    kinds = (NDJSON,) if lines else texts
    content = {"content": {kind: {"schema": {"type": "string"}} for kind in kinds}} if kinds else {}
    model = {} if answer is None else {"model": answer}
    responses = {status: {"description": text, **model, **content}, **failures(may)}

    def declare(function: F) -> F:
        route = router.api_route(
            f"/v1/{name}",
            methods=[method],
            operation_id=name if name.isidentifier() else function.__name__,
            status_code=status,
            response_model=None,
            response_class=LinesResponse if lines else JsonAnswer if answer is not None else Response,
            responses=responses,
            openapi_extra={"x-roles": list(roles), "security": [{"token": []}], EXAMPLE: example or name},
        )
        decorated: F = route(function)
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
