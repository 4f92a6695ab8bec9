"""The verbs that take long, as jobs: settle, rank, audit, change, clear, convert_engine."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from fastapi import Query as InQuery
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from graphbrain.base.errors import BadInput
from graphbrain.base.options.scores import BY_METHOD, RankDue, RankRun, SettleOptions, checked, checked_every
from graphbrain.base.settings import ENGINES, changes, checked_engine
from graphbrain.service import answers
from graphbrain.service.backend import Backend
from graphbrain.service.declared import request
from graphbrain.service.jobs import Job
from graphbrain.service.patterns import of_settings
from graphbrain.service.verbs import (
    EVERYBODY,
    OPERATORS,
    READERS,
    Body,
    Caller,
    IdempotencyKey,
    Nothing,
    Query,
    Service,
    json_answer,
    verb,
)

__all__ = ["router"]

router = APIRouter(tags=["jobs"])
JobId = Annotated[str, Path(max_length=64, examples=["5f0c0e3b9a8d4c7e8b1f2a3d4c5b6a79"])]
BEGUN = 202
USED: Mapping[int, str] = {409: "The Idempotency-Key was used for another request."}
_NONE: JsonDict = {"type": "null"}
_UNSAID: Mapping[str, JsonDict] = {
    "damping": _NONE,
    "tolerance": _NONE,
    "iterations": _NONE,
    "trusted": _NONE,
    "content": {"const": False},
}
"""An option that its method lacks is left out, or has this value."""
_BY_METHOD: JsonDict = {
    "anyOf": [
        {
            "properties": {
                "method": {"const": method},
                **{name: value for name, value in _UNSAID.items() if name not in options},
            }
        }
        for method, options in BY_METHOD.items()
    ]
}
"""The part of the schema for arguments of one method alone."""


class Settle(request(SettleOptions, Body)):  # type: ignore[misc]
    """The error bound that is left; `if_cheaper`: do nothing where pushes are cheaper."""


class Rank(request(RankRun, Body)):  # type: ignore[misc]
    """As `rank` takes it in Python."""

    model_config = ConfigDict(json_schema_extra=_BY_METHOD)


class RankIfDue(request(RankDue, Body)):  # type: ignore[misc]
    """A method, and the seconds after which its scores are old."""


class AuditOf(Body):
    """The number of accounts that are recomputed; null: all."""

    sample: int | None = Field(1_000, ge=1, le=2**53, examples=[1000])


class Change(Body):
    """Shared settings and their new values."""

    settings: dict[str, Any] = Field(
        examples=[{"delay_seconds": 2.0}], json_schema_extra={"minProperties": 1} | of_settings("shared")
    )


class Engine(Body):
    """The name of the engine, exact or classic."""

    engine: str = Field(examples=["exact"], json_schema_extra={"enum": list(ENGINES)})


class Wait(Query):
    """The seconds to wait for its end."""

    wait: float = Field(0.0, ge=0, le=60, examples=[0])


def _begun(service: Backend, verb: str, caller: Caller, key: str | None, body: Body, work: Any) -> Response:
    asked = json.dumps(body.model_dump(), sort_keys=True)
    job = service.jobs.begin(verb, caller, service.own_key(caller, key), asked, work)
    return json_answer(job.as_dict(), BEGUN)


@verb(router, "POST", "settle", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def settle(body: Settle, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Bring all accounts to their fixed point at once."""
    given = body.model_dump(exclude_none=True)

    def work(job: Job) -> Any:
        return dataclasses.asdict(service.brain.settle(**given, progress=job.told, stop=job.stopped))

    return _begun(service, "settle", caller, key, body, work)


@verb(router, "POST", "rank", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def rank(body: Rank, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Compute batch scores of all pages, and write them to these."""
    given = body.model_dump()
    checked(RankRun(**given))
    return _begun(
        service, "rank", caller, key, body, lambda job: service.brain.rank(**given, progress=job.told).as_dict()
    )


@verb(router, "POST", "rank_if_due", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def rank_if_due(body: RankIfDue, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Rank, where the scores are older than `every` seconds and no other process ranks; otherwise the result is
    null."""
    due = body.model_dump()
    checked_every(RankDue(**due))

    def work(job: Job) -> Any:
        ranking = service.brain.rank_if_due(**due, progress=job.told)
        return None if ranking is None else ranking.as_dict()

    return _begun(service, "rank_if_due", caller, key, body, work)


@verb(router, "POST", "audit", READERS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def audit(body: AuditOf, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Recompute accounts from their neighbours and check leases, queues and marks; nothing is changed."""

    def work(job: Job) -> Any:
        return dataclasses.asdict(service.brain.audit(body.sample, job.told))

    return _begun(service, "audit", caller, key, body, work)


@verb(router, "POST", "change", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def change(body: Change, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Change settings of the brain for all who use it, and what follows from them for every page."""
    if not body.settings:
        raise BadInput("Name a setting and its new value.")
    _ = service.brain.session.engine  # raises BeingConverted: no settings would pass the check below
    service.brain.session.changed(changes(body.settings))
    return _begun(service, "change", caller, key, body, lambda job: service.brain.change(job.told, **body.settings))


@verb(router, "POST", "clear", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def clear(body: Nothing, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Delete all pages, links, hosts and counters. What was deleted when it is stopped is gone."""
    return _begun(service, "clear", caller, key, body, lambda job: service.brain.clear(job.told))


@verb(router, "POST", "forget_relevance", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def forget_relevance(body: Nothing, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Forget what is known or guessed of the relevance of all pages; of how many something was."""
    return _begun(service, "forget_relevance", caller, key, body, lambda job: service.brain.forget_relevance(job.told))


@verb(router, "POST", "convert_engine", OPERATORS, answers.JobAnswer, example="job", status=BEGUN, may=USED)
async def convert_engine(body: Engine, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
    """Give the brain another engine. Stopped, it must be begun again before the brain can be used."""
    checked_engine(body.engine)
    return _begun(
        service, "convert_engine", caller, key, body, lambda job: service.brain.convert_engine(body.engine, job.told)
    )


@verb(router, "GET", "jobs", EVERYBODY, answers.JobsAnswer)
async def jobs(service: Service, caller: Caller) -> Response:
    """The jobs of this service that one may see: an operator all, others their own."""
    return json_answer({"jobs": [job.as_dict() for job in service.jobs.all(caller)]})


@verb(router, "GET", "jobs/{job}", EVERYBODY, answers.JobAnswer, example="job")
async def get_job(job: JobId, query: Annotated[Wait, InQuery()], service: Service, caller: Caller) -> Response:
    """Return the progress of a job; with `wait` after it has ended, or after so many seconds."""
    known = service.jobs.get(job, caller)
    if query.wait and known.state == "running":
        tasks = [asyncio.ensure_future(event.wait()) for event in (known.over, service.stopping)]
        await asyncio.wait(tasks, timeout=query.wait, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
    return json_answer(known.as_dict())


@verb(router, "DELETE", "jobs/{job}", EVERYBODY, answers.JobAnswer, example="job")
async def stop_job(job: JobId, service: Service, caller: Caller) -> Response:
    """Stop a job. It ends between two transactions; what was written by then stays, and is right."""
    known = service.jobs.get(job, caller)
    known.stop.set()
    return json_answer(known.as_dict())
