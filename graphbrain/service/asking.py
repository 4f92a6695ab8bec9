"""The verbs of analysts: questions and their answers, findings, the summary.

An answer is cancelled when the caller hangs up, or when it takes too long: Neo4j ends its transaction.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterator
from datetime import date, datetime, time
from itertools import islice
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response
from fastapi import Query as InQuery
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from graphbrain.analyst import questions
from graphbrain.base.errors import BadInput
from graphbrain.base.options.verbs import READERS
from graphbrain.base.records import Asked as Answer
from graphbrain.service.verbs import Asked, Service, json_answer, path, route
from graphbrain.terminal import tables

__all__ = ["router"]

router = APIRouter(tags=["asking"])
ROWS_AT_ONCE = 500
CSV, HTML = "text/csv", "text/html"
SEALED = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; sandbox"
"""The Content-Security-Policy of a summary: a browser may style it, and may do nothing else."""
Name = Annotated[str, Path(max_length=100, examples=["states"], json_schema_extra={"pattern": "^[a-z-]+$"})]


class Form(BaseModel):
    """The form of the answer. The question's parameters are beside it in the address, each by its name."""

    model_config = ConfigDict(extra="allow")

    format: Literal["json", "csv"] = Field("json", examples=["json"])


@path(router, "GET", "ask/{name}", READERS, Answer, example="ask", texts=(CSV,))
async def ask(name: Name, query: Annotated[Form, InQuery()], service: Service, request: Asked) -> Response:
    """Answer a question, as JSON or CSV. The question's parameters are in the address, by their names.

    It is cancelled when it takes too long, or when the caller hangs up. A token can have one question at a time that
    reads every page.
    """
    given = _given(request)
    heavy = bool(questions.question(name).cost)
    answer = await service.answer(_disconnected(request), lambda: service.brain.ask(name, **given), heavy=heavy)
    if query.format == "csv":
        return StreamingResponse(_in_parts(_csv(answer)), media_type=CSV, headers=_remarks(answer))
    return StreamingResponse(_in_parts(_json(answer)), media_type="application/json")


@route(router, "findings")
async def get_findings(service: Service, request: Asked) -> Response:
    faults = await service.answer(_disconnected(request), service.brain.findings, heavy=True)
    return json_answer({"findings": faults})


@route(router, "summary", texts=(HTML,))
async def summary(query: Any, service: Service, request: Asked) -> Response:
    page = await service.answer(_disconnected(request), lambda: service.brain.summary(query.since), heavy=True)
    return Response(page, media_type=HTML, headers={"Content-Security-Policy": SEALED})


def _given(request: Request) -> dict[str, str]:
    """Return the parameters of a question. Raise BadInput for one that is given twice."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise BadInput(f"{name!r:.80} is given twice.")
        given[name] = value
    given.pop("format", None)
    return given


async def _disconnected(request: Request) -> None:
    """Wait until the caller has hung up, or the token is no longer valid."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _in_parts(texts: Iterator[str]) -> AsyncIterator[bytes]:
    """Texts, some hundreds joined at a time."""
    while part := "".join(islice(texts, ROWS_AT_ONCE)):
        yield part.encode()


def _json(answer: Answer) -> Iterator[str]:
    """Yield an answer as one JSON object, row by row; the facts about the rows come before them."""
    head = {"columns": answer.columns, "cut": answer.cut, "note": answer.note, "rows": []}
    yield json.dumps(head)[:-2]
    for number, row in enumerate(answer.rows):
        yield (",\n" if number else "\n") + json.dumps([_value(cell) for cell in row], allow_nan=False)
    yield "]}\n"


def _value(cell: Any) -> Any:
    """Return a value of an answer as JSON has it: times by ISO 8601, what is no number as null."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if isinstance(cell, datetime):
        return tables.plain(cell)
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, list | tuple):
        return [_value(each) for each in cell]
    if isinstance(cell, dict):
        return {str(name): _value(each) for name, each in cell.items()}
    return cell.item() if hasattr(cell, "item") else cell


def _csv(answer: Answer) -> Iterator[str]:
    """Yield an answer as comma-separated values, row by row."""
    yield tables.csv_line(answer.columns)
    for row in answer.rows:
        yield tables.csv_line(row)


def _remarks(answer: Answer) -> dict[str, str]:
    """Return the facts about the rows that CSV cannot hold, as headers: whether there are more, and a note."""
    note = {"Graphbrain-Note": quote(answer.note, safe=" ,.:;()'")} if answer.note else {}
    return {"Graphbrain-Cut": str(answer.cut).lower(), **note}
