"""Snapshots for the console: one is made for all who watch, and none is waited for but the first, for a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from graphbrain.base.errors import GraphUnavailable
from graphbrain.service import watching
from graphbrain.service.watching import EVERY, Bodies, Seen, Snapshots

KIND = "activity"


class Reading:
    """Makes snapshots: `count` of them have begun, each takes until `ended` is set, and fails if there is a `fault`."""

    def __init__(self) -> None:
        self.count, self.ended, self.fault = 0, asyncio.Event(), None
        self.ended.set()
        service: Any = SimpleNamespace(
            answer=self.answer, brain=SimpleNamespace(now=time.time), meter=None, minutes=None
        )
        self.snapshots = Snapshots(service, None)

    fault: GraphUnavailable | None

    async def answer(self, _gone: Awaitable[object], _work: Callable[[], object], *, heavy: bool) -> dict[str, int]:
        assert not heavy and asyncio.iscoroutine(_gone)
        _gone.close()
        self.count += 1
        number = self.count
        await self.ended.wait()
        if self.fault is not None:
            raise self.fault
        return {"number": number}

    async def get(self, *, fresh: bool = False) -> Seen:
        return await self.snapshots.get(KIND, fresh=fresh)


def shown(seen: Seen) -> int | None:
    return None if seen.snapshot is None else seen.snapshot.data["number"]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FIRST_WAIT", 0.05)


def outdate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every snapshot is too old from now on."""
    monkeypatch.setitem(EVERY, KIND, 0.0)
    monkeypatch.setattr(watching, "SHARE", float("inf"))


def test_all_who_watch_get_one() -> None:
    async def watch() -> None:
        reading = Reading()
        seen = await asyncio.gather(*(reading.get() for _ in range(100)))
        assert {shown(each) for each in seen} == {1} and reading.count == 1

    asyncio.run(watch())


def test_a_long_first_one_is_not_waited_for() -> None:
    async def watch() -> None:
        reading = Reading()
        reading.ended.clear()
        assert await reading.get() == Seen(None, making=True, progress=None, trouble="")
        assert await reading.get() == Seen(None, making=True, progress=None, trouble="")
        reading.ended.set()
        seen = await reading.get()
        assert shown(seen) == 1 and not seen.making and reading.count == 1

    asyncio.run(watch())


def test_an_old_one_is_shown_while_a_new_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    async def watch() -> None:
        reading = Reading()
        await reading.get()
        outdate(monkeypatch)
        reading.ended.clear()
        seen = await reading.get()
        assert shown(seen) == 1 and seen.making
        reading.ended.set()
        await asyncio.sleep(0.01)
        assert shown(await reading.get()) == 2

    asyncio.run(watch())


def test_a_request_for_a_fresh_one_is_no_command() -> None:
    async def watch() -> None:
        reading = Reading()
        await reading.get()
        assert shown(await reading.get(fresh=True)) == 1 and reading.count == 1, "it is not ten seconds old"

    asyncio.run(watch())


def test_trouble_is_raised_without_one_and_named_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def watch() -> None:
        reading = Reading()
        reading.fault = GraphUnavailable("Neo4j is away.")
        with pytest.raises(GraphUnavailable, match="away"):
            await reading.get()
        reading.fault = None
        seen = await reading.get()
        assert shown(seen) == 2 and seen.trouble == ""
        outdate(monkeypatch)
        reading.fault = GraphUnavailable("Neo4j is away.")
        await reading.get()
        await asyncio.sleep(0.01)
        seen = await reading.get()
        assert shown(seen) == 2 and seen.trouble == "Neo4j is away."

    asyncio.run(watch())


def test_an_answer_is_written_once_for_each_state_of_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_BODIES", 2)
    bodies, written = Bodies(), list[str]()

    def get(view: str, state: int) -> bytes:
        def write() -> bytes:
            written.append(f"{view}{state}")
            return written[-1].encode()

        return bodies.get(("hosts", view), state, write)

    assert [get("a", 1), get("b", 1), get("a", 1), get("a", 2), get("b", 1)] == [b"a1", b"b1", b"a1", b"a2", b"b1"]
    assert written == ["a1", "b1", "a2"]
    get("c", 1)
    assert get("b", 1) == b"b1" and written == ["a1", "b1", "a2", "c1"]
    assert get("a", 2) == b"a2" and written[-1] == "a2", "the one that was not asked for the longest is gone"


def test_failed_attempts_are_counted_so_that_each_is_news(monkeypatch: pytest.MonkeyPatch) -> None:
    async def watch() -> None:
        reading = Reading()
        await reading.get()
        outdate(monkeypatch)
        reading.fault = GraphUnavailable("Neo4j is away.")
        seen = []
        for _ in range(3):
            seen.append((await reading.get()).failures)
            await asyncio.sleep(0.01)
        assert seen == [0, 1, 2]
        reading.fault = None
        await reading.get()
        await asyncio.sleep(0.01)
        assert (await reading.get()).failures == 0

    asyncio.run(watch())


def test_one_who_asks_once_in_an_interval_gets_each_time_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    interval = 0.4
    monkeypatch.setitem(EVERY, KIND, interval)
    monkeypatch.setattr(watching, "SHARE", float("inf"))

    async def watch() -> None:
        reading = Reading()
        for number in (1, 2, 3):
            reading.ended.clear()
            await reading.get()
            await asyncio.sleep(interval / 2)
            assert reading.count == number
            reading.ended.set()
            await asyncio.sleep(interval / 2)

    asyncio.run(watch())
