"""The console's own paths: its files, who one is, and snapshots of the crawl.

A snapshot is made in the background, once for all who watch, and no sooner than its making took a tenth of the time: a
hundred watchers cost the database what one does. Its age stands in it, and in its ETag, by which who has it is told no
more than that.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi import Query as InQuery
from pydantic import Field

from graphbrain.console import shell, watch
from graphbrain.service import answers
from graphbrain.service.backend import Backend
from graphbrain.service.seats import ANYBODY
from graphbrain.service.verbs import EVERYBODY, READERS, Asked, Caller, Query, Service, json_answer, plain, verb

__all__ = ["PATHS", "Snapshots", "router", "shell_of"]

router = APIRouter(tags=["console"])
EVERY = {"overview": 5.0, "activity": 5.0, "hosts": 30.0, "findings": 3_600.0}
"""Seconds between two snapshots, at least."""
SHARE = 0.1
"""Of the time a snapshot is made at most."""
SOON = 10.0
"""Seconds after which findings are made again on request."""
STALE = 6
"""A snapshot that is so many intervals old is not shown while a new one is made."""
MOST_ROWS = 1_000
PATHS = tuple(f"/console/{name}" if name else "/console" for name in shell.files())
"""What needs no token: it tells nothing of the crawl."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was found, when (epoch seconds), and by how many seconds of reading. `made`: by the steady clock."""

    data: dict[str, Any]
    as_of: float
    took: float
    made: float


class Snapshots:
    """The last snapshot of each kind, made when somebody asks for one that is too old."""

    def __init__(self, service: Backend) -> None:
        brain = service.brain
        self._service = service
        self._make: dict[str, Callable[[], dict[str, Any]]] = {
            "overview": lambda: watch.overview(brain, service.meter.sample, service.minutes),
            "activity": lambda: watch.activity(brain),
            "hosts": lambda: watch.hosts(brain),
            "findings": lambda: watch.found(brain),
        }
        self._kept: dict[str, Snapshot] = {}
        self._making: dict[str, asyncio.Task[Snapshot]] = {}

    async def get(self, kind: str, *, fresh: bool = False) -> Snapshot:
        """The last one; a new one where there is none, where it is far too old, or where it has to be `fresh`."""
        kept = self._kept.get(kind)
        age = float("inf") if kept is None else time.monotonic() - kept.made
        rests = 0.0 if kept is None else max(SOON if fresh else EVERY[kind], kept.took / SHARE)
        if kept is not None and age < rests:
            return kept
        making = self._making.get(kind)
        if making is None:
            making = self._making[kind] = asyncio.create_task(self._new(kind))
            making.add_done_callback(lambda _: self._making.pop(kind, None))
        if kept is None or fresh or age > STALE * rests:
            return await asyncio.shield(making)
        making.add_done_callback(lambda task: task.cancelled() or task.exception())  # the next who asks is told
        return kept

    async def _new(self, kind: str) -> Snapshot:
        began = time.monotonic()
        for_ever = asyncio.Event()  # nobody's hanging up ends it, for all wait for it
        data = await self._service.answer(for_ever.wait(), self._make[kind], heavy=False)
        now = time.monotonic()
        self._kept[kind] = Snapshot(data, self._service.brain.now(), now - began, now)
        return self._kept[kind]


class Fresh(Query):
    """Whether it has to be made now."""

    fresh: bool = Field(False, description="make them anew, if they are older than 10 s", examples=[False])


class HostRows(Query):
    """Which rows of the table, sorted by which column."""

    text: str = Field("", max_length=200, description="a part of the name", examples=["example"])
    which: Literal["all", "waiting", "failing", "blocked", "slowed", "silent", "outside"] = Field(
        "all", examples=["all"]
    )
    by: Literal[watch.HOST_COLUMNS] = Field("pages", examples=["pages"])  # type: ignore[valid-type]
    down: bool = Field(True, description="the largest first", examples=[True])
    offset: int = Field(0, ge=0, le=2**53, examples=[0])
    limit: int = Field(100, ge=1, le=MOST_ROWS, examples=[100])


@verb(router, "GET", "me", EVERYBODY, answers.MeAnswer)
async def me(caller: Caller) -> Response:
    """Whose token this is, and what it may."""
    name = None if caller is ANYBODY else caller.name
    return json_answer({"name": name, "role": caller.role, "expires": caller.expires})


@verb(router, "GET", "watch/overview", READERS, answers.WatchAnswer, example="watch")
async def watch_overview(service: Service, asked: Asked) -> Response:
    """How the crawl goes: figures, pages by the minute and by the hour, workers."""
    return _told(asked, await service.snapshots.get("overview"))


@verb(router, "GET", "watch/activity", READERS, answers.WatchAnswer, example="watch")
async def watch_activity(service: Service, asked: Asked) -> Response:
    """What is being fetched, what has failed of late, what comes next."""
    return _told(asked, await service.snapshots.get("activity"))


@verb(router, "GET", "watch/findings", READERS, answers.WatchAnswer, example="watch")
async def watch_findings(query: Annotated[Fresh, InQuery()], service: Service, asked: Asked) -> Response:
    """What is wrong, the most wasteful first, as it was found within the last hour."""
    return _told(asked, await service.snapshots.get("findings", fresh=query.fresh))


@verb(router, "GET", "watch/hosts", READERS, answers.WatchAnswer, example="watch")
async def watch_hosts(query: Annotated[HostRows, InQuery()], service: Service, asked: Asked) -> Response:
    """Rows of the table of all hosts."""
    snapshot = await service.snapshots.get("hosts")
    now, columns = service.brain.now(), snapshot.data["columns"]
    rows = [row for row in snapshot.data["rows"] if _fits(dict(zip(columns, row, strict=True)), query, now)]
    place = columns.index(query.by)
    known = sorted((row for row in rows if row[place] is not None), key=lambda row: row[0])
    known.sort(key=lambda row: row[place], reverse=query.down)
    ordered = [*known, *(row for row in rows if row[place] is None)]
    part = ordered[query.offset : query.offset + query.limit]
    return _told(asked, snapshot, {"columns": columns, "rows": part, "of": len(rows)}, tag=repr(query))


def _fits(host: dict[str, Any], query: HostRows, now: float) -> bool:
    moods = {
        "all": True,
        "waiting": host["frontier"] > 0,
        "failing": host["failing"] > 0,
        "blocked": (host["blocked_until"] or 0.0) > now,
        "slowed": host["pace"] is not None and host["pace"] < 1.0,
        "silent": host["probe_at"] is not None,
        "outside": host["in_scope"] is False,
    }
    return query.text.lower() in host["name"] and moods[query.which]


def _told(asked: Request, snapshot: Snapshot, data: dict[str, Any] | None = None, tag: str = "") -> Response:
    """A snapshot, or that whoever asks has it already."""
    etag = f'"{snapshot.made:.6f}-{hash(tag) & 0xFFFFFFFF:x}"'
    if asked.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={"ETag": etag})
    told = {"as_of": snapshot.as_of, "took": snapshot.took, "data": snapshot.data if data is None else data}
    body = json.dumps(told, default=plain)
    return Response(body, media_type="application/json", headers={"ETag": etag})


def shell_of(api: FastAPI) -> None:
    """Hand out the files of the console."""
    headers = {"Content-Security-Policy": shell.POLICY, "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}

    def handing(file: shell.File) -> Callable[[], Any]:
        async def hand_out() -> Response:
            return Response(file.content, headers={**headers, "ETag": file.tag, "Content-Type": file.kind})

        return hand_out

    for path, file in zip(PATHS, shell.files().values(), strict=True):
        api.get(path, include_in_schema=False)(handing(file))
