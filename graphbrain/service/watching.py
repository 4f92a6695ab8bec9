"""The paths of the console: its files, the caller's name and role, and snapshots of the crawl.

A snapshot is made in the background, once for all watchers, and takes a tenth of one reader's time at most: a hundred
watchers cost the database the same as one. An answer has the time of its snapshot. A caller that names its ETag gets
304 until there is a newer one, or an attempt to make one has failed. An answer is written once for all who ask for it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi import Query as InQuery
from pydantic import Field

from graphbrain.base.errors import GraphbrainError
from graphbrain.base.options.verbs import EVERYBODY, READERS
from graphbrain.base.records import plain
from graphbrain.base.runtime.newest import Newest
from graphbrain.base.urls.hostnames import LONGEST_NAME
from graphbrain.brain.brain import Brain
from graphbrain.service import answers
from graphbrain.service.backend import Backend
from graphbrain.service.console import hosts, shell, watch
from graphbrain.service.console.hosts import HostTable, Progress
from graphbrain.service.declared import Query
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import ANYBODY
from graphbrain.service.verbs import Asked, Caller, Service, json_answer, path

__all__ = ["PATHS", "Snapshots", "router", "shell_of"]

router = APIRouter(tags=["console"])
EVERY = {"overview": 5.0, "activity": 5.0, "hosts": 30.0, "findings": 3_600.0}
"""The least seconds between the beginnings of two snapshots."""
SHARE = 0.1
"""The largest share of the time that the making of a snapshot takes."""
SOON = 10.0
"""Seconds after which findings are made again on request."""
FIRST_WAIT = 0.5
"""Seconds for which a request waits for the first snapshot of a kind."""
MOST_BODIES = 32
"""The largest number of answers that are kept, each of at most `hosts.MOST_ROWS` rows."""
PATHS = tuple(f"/console/{name}" if name else "/console" for name in shell.files())
"""The paths that need no token, because they show nothing of the crawl."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot.

    Attributes:
        data: What was read.
        as_of: When the reading ended, in epoch seconds.
        took: The seconds of the reading.
        ended: When the reading ended, by the steady clock.
    """

    data: dict[str, Any]
    as_of: float
    took: float
    ended: float


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a kind of snapshots at a request.

    Attributes:
        snapshot: The last snapshot; None while the first one is being made.
        making: True while a newer one is being made.
        progress: The part of it that is made, from 0 to 1; None: not known.
        trouble: Why the last attempt to make one failed; empty if it did not.
        failures: The number of attempts that have failed since the last snapshot.
    """

    snapshot: Snapshot | None
    making: bool
    progress: float | None
    trouble: str
    failures: int = 0


class Bodies:
    """The last answers of the views, each written once for all who ask the same."""

    def __init__(self) -> None:
        self._kept: Newest[tuple[str, str], tuple[object, bytes]] = Newest(MOST_BODIES)

    def get(self, view: tuple[str, str], state: object, write: Callable[[], bytes]) -> bytes:
        """Return the answer of a view in this state; `write` makes it where the last one was of another state."""
        before = self._kept.get(view)
        current = before if before is not None and before[0] == state else (state, write())
        self._kept[view] = current  # marks it as the one that was used last
        return current[1]


class Snapshots:
    """The last snapshot of each kind.

    A request for one that is too old has a new one made, and does not wait for it.

    Attributes:
        bodies: The answers that were made of them.
    """

    def __init__(self, service: Backend, data: Path | None) -> None:
        brain = service.brain
        self._service = service
        self._make: dict[str, Callable[[Progress], dict[str, Any]]] = {
            "overview": lambda _: watch.overview(brain, service.meter.sample, service.minutes, data),
            "activity": lambda _: watch.activity(brain),
            "hosts": HostTable(brain).read,
            "findings": lambda _: {"findings": brain.findings()},
        }
        self._progress: dict[str, float] = {}
        self._kept: dict[str, Snapshot] = {}
        self._making: dict[str, asyncio.Task[None]] = {}
        self._troubles: dict[str, GraphbrainError | Refusal] = {}
        self._failures: dict[str, int] = {}
        self.bodies = Bodies()

    async def get(self, kind: str, *, fresh: bool = False) -> Seen:
        """Return the last snapshot, whatever its age, and have a new one made if that is due.

        Only the first one is waited for, `FIRST_WAIT` seconds at most.

        Args:
            kind: A name of `EVERY`.
            fresh: A new one is due after `SOON` seconds.

        Raises:
            GraphbrainError: There is none yet, and the last attempt to make one failed so.
            Refusal: The same.
        """
        if kind not in self._making and self._is_due(kind, SOON if fresh else EVERY[kind]):
            self._making[kind] = asyncio.create_task(self._new(kind))
            self._making[kind].add_done_callback(lambda _: self._making.pop(kind))
        if kind not in self._kept:
            first = self._making[kind]
            await asyncio.wait({first}, timeout=FIRST_WAIT)
            if first.done():
                first.result()
        kept, trouble = self._kept.get(kind), self._troubles.get(kind)
        if kept is None and trouble is not None:
            raise trouble
        making = kind in self._making
        progress = self._progress.get(kind) if making else None
        return Seen(kept, making, progress, "" if trouble is None else str(trouble), self._failures.get(kind, 0))

    def _is_due(self, kind: str, interval: float) -> bool:
        kept = self._kept.get(kind)
        if kept is None:
            return True
        # The interval counts from the beginning: else one watcher, who asks once in an interval, would get each second
        # snapshot, and many watchers would have twice as many made.
        return time.monotonic() - kept.ended >= max(interval - kept.took, kept.took / SHARE)

    async def _new(self, kind: str) -> None:
        began = time.monotonic()
        for_ever = asyncio.Event()  # all wait for it, so no one request ends it
        self._progress.pop(kind, None)

        def progress(part: float) -> None:
            self._progress[kind] = part

        try:
            data = await self._service.answer(for_ever.wait(), partial(self._make[kind], progress), heavy=False)
        except (GraphbrainError, Refusal) as error:
            self._troubles[kind] = error
            self._failures[kind] = self._failures.get(kind, 0) + 1
            return
        now = time.monotonic()
        self._kept[kind] = Snapshot(data, self._service.brain.now(), now - began, now)
        self._troubles.pop(kind, None)
        self._failures.pop(kind, None)


class Fresh(Query):
    """The request for a snapshot that is made now."""

    fresh: bool = Field(False, description="make them anew, if they are older than 10 s", examples=[False])


class ByKey(Query):
    """A page by its key."""

    key: str = Field(pattern="^[0-9a-f]{32}$", examples=[answers.KEY])


class ByName(Query):
    """A host by its name."""

    name: str = Field(max_length=LONGEST_NAME, examples=["a.example"])


@path(router, "GET", "me", EVERYBODY, answers.MeAnswer)
async def me(caller: Caller) -> Response:
    """The name, the role and the end of the caller's token."""
    name = None if caller is ANYBODY else caller.name
    return json_answer({"name": name, "role": caller.role, "expires": caller.expires})


@path(router, "GET", "watch/overview", READERS, answers.WatchAnswer, example="watch")
async def watch_overview(service: Service, request: Asked) -> Response:
    """Figures of the crawl, pages by the minute and by the hour, workers. No page is read."""
    return await _snapshot(request, service, "overview")


@path(router, "GET", "watch/activity", READERS, answers.WatchAnswer, example="watch")
async def watch_activity(service: Service, request: Asked) -> Response:
    """The pages that are being fetched, the last that failed, and those that come next."""
    return await _snapshot(request, service, "activity")


@path(router, "GET", "watch/findings", READERS, answers.WatchAnswer, example="watch")
async def watch_findings(query: Annotated[Fresh, InQuery()], service: Service, request: Asked) -> Response:
    """The findings, the most wasteful first, not older than an hour or by ten times the duration of their making."""
    return await _snapshot(request, service, "findings", fresh=query.fresh)


@path(router, "GET", "watch/hosts", READERS, answers.WatchAnswer, example="watch")
async def watch_hosts(query: Annotated[hosts.Asked, InQuery()], service: Service, request: Asked) -> Response:
    """Rows of the table of all hosts."""

    def part(data: dict[str, Any]) -> dict[str, Any]:
        rows, of = hosts.part(data["rows"], query, service.brain.now())
        return {"columns": hosts.COLUMNS, "rows": rows, "of": of} | {
            name: data[name] for name in ("counted", "count_took")
        }

    return await _snapshot(request, service, "hosts", part, view=repr(query))


@path(router, "GET", "watch/page", READERS, answers.WatchAnswer, example="watch")
async def watch_page(query: Annotated[ByKey, InQuery()], service: Service) -> Response:
    """The kept history of a page's visits, and the pages of its host with the same content; empty without that page."""
    return await _now(service, watch.page, query.key)


@path(router, "GET", "watch/host", READERS, answers.WatchAnswer, example="watch")
async def watch_host(query: Annotated[ByName, InQuery()], service: Service) -> Response:
    """The pages of a host by state, by fault, and by sitemaps. All its pages are read: for people, not for loops."""
    return await _now(service, watch.host, query.name)


async def _now(service: Backend, read: Callable[[Brain, str], dict[str, Any]], name: str) -> Response:
    """Return the answer that is read for one tab alone."""
    began = time.monotonic()
    data = await service.look.run(read, service.brain, name)
    now = time.monotonic()
    snapshot = Snapshot(data, service.brain.now(), now - began, now)
    return Response(_body(Seen(snapshot, making=False, progress=None, trouble=""), data), media_type="application/json")


async def _snapshot(
    request: Request,
    service: Backend,
    kind: str,
    part: Callable[[dict[str, Any]], dict[str, Any]] = lambda data: data,
    *,
    view: str = "",
    fresh: bool = False,
) -> Response:
    """Return the snapshot, or an empty answer with 304 if the caller has it already.

    Args:
        request: The request.
        service: The backend.
        kind: The kind of snapshot.
        part: Returns the part of a snapshot that is asked for.
        view: A text that differs between parts.
        fresh: A new one is made if it is `SOON` seconds old. The caller has to learn whether it is, so there is no 304.
    """
    seen = await service.snapshots.get(kind, fresh=fresh)
    snapshot = seen.snapshot
    # That a newer one is being made is no news: the tag stays, and the caller gets the newer one when it is there.
    tag = _tag(0.0, (view, seen)) if snapshot is None else _tag(snapshot.ended, (view, seen.failures))
    headers = {"ETag": tag}
    if request.headers.get("if-none-match") == tag and not fresh:
        return Response(status_code=304, headers=headers)
    # Before the first snapshot the answer has no data.
    if snapshot is None:
        return Response(_body(seen, None), media_type="application/json", headers=headers)
    # Callers that ask the same get the same body.
    state = (snapshot.ended, seen.failures, seen.making)
    body = service.snapshots.bodies.get((kind, view), state, lambda: _body(seen, part(snapshot.data)))
    return Response(body, media_type="application/json", headers=headers)


def _tag(created: float, other: object) -> str:
    return f'"{created:.6f}-{hash(other) & 0xFFFFFFFF:x}"'


def _body(seen: Seen, data: dict[str, Any] | None) -> bytes:
    snapshot = seen.snapshot
    facts = {
        "as_of": None if snapshot is None else snapshot.as_of,
        "took": None if snapshot is None else snapshot.took,
        "making": seen.making,
        "progress": seen.progress if snapshot is None else None,  # shown only until there is a snapshot
        "trouble": seen.trouble,
        "data": data,
    }
    return json.dumps(facts, default=plain).encode()


def shell_of(api: FastAPI) -> None:
    """Serve the files of the console."""
    headers = {"Content-Security-Policy": shell.POLICY, "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}

    def serving(file: shell.File) -> Callable[[], Any]:
        async def serve() -> Response:
            return Response(file.content, headers={**headers, "ETag": file.tag, "Content-Type": file.kind})

        return serve

    for address, file in zip(PATHS, shell.files().values(), strict=True):
        api.get(address, include_in_schema=False)(serving(file))
