"""The jobs of the service: looked at, waited for and stopped. `service.plain` begins them."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated

from fastapi import APIRouter, Path, Response
from fastapi import Query as InQuery
from pydantic import Field

from graphbrain.base.options.verbs import EVERYBODY
from graphbrain.service import answers
from graphbrain.service.declared import Query
from graphbrain.service.verbs import Caller, Service, json_answer, path

__all__ = ["router"]

router = APIRouter(tags=["jobs"])
JobId = Annotated[str, Path(max_length=64, examples=["5f0c0e3b9a8d4c7e8b1f2a3d4c5b6a79"])]


class Wait(Query):
    """The seconds to wait for its end."""

    wait: float = Field(0.0, ge=0, le=60, examples=[0])


@path(router, "GET", "jobs", EVERYBODY, answers.JobsAnswer)
async def jobs(service: Service, caller: Caller) -> Response:
    """The jobs of this service that one may see: an operator all, others their own."""
    return json_answer({"jobs": service.jobs.all(caller)})


@path(router, "GET", "jobs/{job}", EVERYBODY, answers.JobAnswer, example="job")
async def get_job(job: JobId, query: Annotated[Wait, InQuery()], service: Service, caller: Caller) -> Response:
    """Return the progress of a job; with `wait` after it has ended, or after so many seconds."""
    found_job = service.jobs.get(job, caller)
    if query.wait and found_job.state == "running":
        tasks = [asyncio.ensure_future(event.wait()) for event in (found_job.over, service.stopping)]
        await asyncio.wait(tasks, timeout=query.wait, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
    return json_answer(found_job)


@path(router, "DELETE", "jobs/{job}", EVERYBODY, answers.JobAnswer, example="job")
async def stop_job(job: JobId, service: Service, caller: Caller) -> Response:
    """Stop a job. It ends between two transactions; what was written by then stays, and is right."""
    found_job = service.jobs.get(job, caller)
    found_job.stop.set()
    return json_answer(found_job)
