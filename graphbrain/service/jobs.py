"""Long work as jobs: begun by one request, looked at by others, stopped by a third.

A job lives in the service's memory. It dies with it, and may be begun again: what it had written is right, as when the
same verb is interrupted on the command line.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from graphbrain.base.errors import GraphbrainError
from graphbrain.service.access import Grant
from graphbrain.service.refusals import Refusal, refusal_of

__all__ = ["Job", "Jobs", "Stopped"]

State = Literal["running", "done", "failed", "stopped"]
MOST_RUNNING, MOST_KEPT = 4, 200
LAST_SECONDS = 5.0
"""Seconds for which a service that stops waits for its jobs."""
log = logging.getLogger("graphbrain.service")


class Stopped(Exception):
    """Raised within a job's work when a caller has stopped it."""


@dataclass
class Job:
    """One piece of long work.

    The work calls `note` with its progress, or reads `stopped`. `request`: the body of the request that began it.
    """

    verb: str
    by: str
    request: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: State = "running"
    began: float = 0.0
    ended: float | None = None
    doing: str = ""
    done: int = 0
    of: int = 0
    result: Any = None
    error: dict[str, Any] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, *progress: Any) -> None:
        """Record its progress: (step, done, of) or (done, of). Raises Stopped."""
        *what, self.done, self.of = progress
        self.doing = str(what[0]) if what else self.verb
        if self.stop.is_set():
            raise Stopped

    def stopped(self) -> bool:
        """Return whether a caller has stopped it."""
        return self.stop.is_set()

    def as_dict(self) -> dict[str, Any]:
        """Return its values, as the service answers them."""
        names = ("id", "verb", "by", "state", "began", "ended")
        facts = {name: getattr(self, name) for name in names}
        progress = {"doing": self.doing, "done": self.done, "of": self.of}
        return {**facts, "progress": progress, "result": self.result, "error": self.error}


class Jobs:
    """The jobs of one service. To be used by its event loop."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._jobs: dict[str, Job] = {}
        self._keys: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, verb: str, grant: Grant, key: str | None, request: str, work: Callable[[Job], Any]) -> Job:
        """Begin a job that does `work` in a thread of its own, and return it; the earlier job, if one has the same key.
        Raise Refusal if another request began that."""
        # A request that is repeated has the job that it began.
        if key is not None and (earlier := self._jobs.get(self._keys.get(key, ""))):
            if (earlier.verb, earlier.request) != (verb, request):
                used = f"This Idempotency-Key was used for another request ({earlier.verb})"
                raise Refusal(409, "BadInput", f"{used}; make a new one for each request.")
            return earlier
        if sum(job.state == "running" for job in self._jobs.values()) >= MOST_RUNNING:
            raise Refusal(429, "Busy", f"{MOST_RUNNING} jobs are running; wait for one, or stop it.", try_again=True)
        # Begin a new job, and forget the oldest ended ones.
        job = Job(verb, grant.name, request, began=self._now())
        self._jobs[job.id] = job
        if key is not None:
            self._keys[key] = job.id
        self._forget_old()
        task = asyncio.create_task(self._run(job, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def get(self, job_id: str, grant: Grant) -> Job:
        """Return a job. Operators may see all jobs, others their own. Raise Refusal for any other."""
        job = self._jobs.get(job_id)
        if job is None or (grant.role != "operator" and job.by != grant.name):
            none = "There is no such job, or it is not yours; jobs end with the service that has begun them."
            raise Refusal(404, "NoSuchJob", none)
        return job

    def all(self, grant: Grant) -> list[Job]:
        """Return the jobs that a caller may see, the newest first."""
        return [job for job in reversed(self._jobs.values()) if grant.role == "operator" or job.by == grant.name]

    async def close(self) -> None:
        """Stop all jobs, and wait some seconds for their ends: one may be in a long transaction."""
        for job in self._jobs.values():
            job.stop.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_SECONDS)

    async def _run(self, job: Job, work: Callable[[Job], Any]) -> None:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def live() -> None:
            try:
                self._work(job, work)
            finally:
                loop.call_soon_threadsafe(ended.set_result, None)

        threading.Thread(target=live, name=f"graphbrain-{job.verb}", daemon=True).start()
        await ended
        job.over.set()

    def _work(self, job: Job, work: Callable[[Job], Any]) -> None:
        try:
            job.result = work(job)
            state: State = "stopped" if job.stop.is_set() else "done"
        except Stopped:
            state = "stopped"
        except GraphbrainError as error:
            job.error, state = refusal_of(error).as_dict(), "failed"
        except Exception:
            log.exception("job %s (%s) failed", job.id, job.verb)
            job.error = Refusal(500, "Internal", "It failed; the service's log has more.").as_dict()
            state = "failed"
        job.ended = self._now()
        job.state = state

    def _forget_old(self) -> None:
        over = [job.id for job in self._jobs.values() if job.state != "running"]
        for old in over[: max(0, len(self._jobs) - MOST_KEPT)]:
            del self._jobs[old]
        self._keys = {key: job for key, job in self._keys.items() if job in self._jobs}
