"""Places: whatever some do, others get in; and what was taken is given back."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.base.runtime.fair import Turns
from graphbrain.service import access, door, seats
from graphbrain.service.access import Gatekeeper, Grant, digest_of
from graphbrain.service.door import Door, Limits
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import Buckets, Places, Seat

NAMES = ("loud", "meek", "boss")
GRANTS = {
    name: Grant(name, "operator" if name == "boss" else "crawler", 0.0, None, None, digest_of(f"gbt_{name}"))
    for name in NAMES
}


@settings(max_examples=200, deadline=None)
@given(
    most=st.integers(1, 30),
    each=st.integers(1, 30),
    kept=st.integers(0, 10),
    moves=st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=200),
)
def test_of_places_nobody_has_more_than_his_and_operators_have_some(
    most: int, each: int, kept: int, moves: list[tuple[str, bool]]
) -> None:
    places, taken = Places(most, each, kept, "are taken"), dict.fromkeys(NAMES, 0)
    for name, comes in moves:
        if not comes:
            if taken[name]:
                places.leave(GRANTS[name])
                taken[name] -= 1
            continue
        free = most - sum(taken.values()) - (0 if name == "boss" else min(kept, most - 1))
        try:
            places.take(GRANTS[name])
        except Refusal as refusal:
            assert refusal.status == 503 and refusal.try_again
            assert free <= 0 or taken[name] >= min(each, most)
        else:
            assert free > 0 and taken[name] < min(each, most)
            taken[name] += 1
        assert len(places) == sum(taken.values()) <= most


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=100))
def test_owners_take_turns(moves: list[tuple[int, bool]]) -> None:
    turns: Turns[tuple[int, int]] = Turns()
    brought, handed = [0] * 4, [0] * 4
    skipped = [0] * 4
    for owner, puts in moves:
        if puts:
            turns.put(owner, (owner, brought[owner]))
            brought[owner] += 1
            continue
        if not len(turns):
            with pytest.raises(IndexError):
                turns.take()
            continue
        seen = turns.peek()
        got, number = turns.take()
        assert seen == (got, number) and number == handed[got], "of each owner the oldest"
        handed[got] += 1
        for other in range(4):
            skipped[other] = 0 if other == got or brought[other] == handed[other] else skipped[other] + 1
        assert max(skipped) <= 3, "nobody is passed over more often than there are others"
    assert len(turns) == sum(brought) - sum(handed)


def test_who_rests_has_no_seat_and_gets_his_back() -> None:
    open_, polls = Places(2, 2, 0, "are open"), Places(1, 1, 0, "wait")
    one = Seat(open_, polls, GRANTS["loud"], kept=False)
    with one.resting():
        assert (len(open_), len(polls)) == (0, 1)
        others = [Seat(open_, polls, GRANTS["meek"], kept=False) for _ in range(2)]
        with pytest.raises(Refusal, match="wait"), others[0].resting():
            pass
    assert (len(open_), len(polls)) == (3, 0)
    for seat in (one, *others):
        seat.leave()
    assert len(open_) == 0


def test_buckets_are_few_however_many_names_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "ADDRESSES", 100)
    now = [0.0]
    buckets = Buckets(1.0, lambda: now[0])
    assert [buckets.draw("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    now[0] = 1.0
    assert buckets.draw("a") == 0.0
    for number in range(1_000):
        buckets.draw(str(number))
    assert len(buckets._buckets) == 100


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Gatekeeper:
    monkeypatch.setattr(access, "grants", lambda *_, **__: list(GRANTS.values()))
    keeper = Gatekeeper(None, time.time)  # type: ignore[arg-type]
    keeper.read()
    return keeper


def entered(keeper: Gatekeeper, behind: Any, **limits: Any) -> httpx.AsyncClient:
    app: Any = Door(behind, keeper=keeper, limits=Limits(rate=0, **limits), names=["service"], roles={})
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")


async def _soon(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def as_(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer gbt_{name}"}


def test_a_flood_of_wrong_tokens_shuts_nobody_out(keeper: Gatekeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "STRANGE_PAUSE", 0.3)

    async def run() -> tuple[list[int], float]:
        async with entered(keeper, _soon) as http:
            until = time.monotonic() + 3.0
            refused: list[int] = []

            async def flood() -> None:
                while time.monotonic() < until:
                    refused.append((await http.get("/v1/now", headers=as_("wrong"))).status_code)

            floods = [asyncio.create_task(flood()) for _ in range(300)]
            longest = 0.0
            while (began := time.monotonic()) < until:
                assert (await http.get("/v1/now", headers=as_("meek"))).status_code == 200
                longest = max(longest, time.monotonic() - began)
                await asyncio.sleep(0.02)
            await asyncio.gather(*floods)
            return refused, longest

    refused, longest = asyncio.run(run())
    assert set(refused) == {401, 503} and longest < 1.0
    assert len(refused) < 300 * 15, "who is refused often waits for it"


def test_one_token_with_all_its_requests_open_leaves_seats_to_others(keeper: Gatekeeper) -> None:
    async def run() -> None:
        goes_on = asyncio.Event()

        async def behind(scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] == "/v1/hang":
                await goes_on.wait()
            await _soon(scope, receive, send)

        async def asked(name: str, path: str) -> int:
            return (await http.get(path, headers=as_(name))).status_code

        async with entered(keeper, behind, requests=40, requests_of_one=20) as http:
            hanging = [asyncio.create_task(asked("loud", "/v1/hang")) for _ in range(50)]
            await asyncio.sleep(0.2)
            assert await asked("loud", "/v1/now") == 503 and await asked("meek", "/v1/now") == 200
            hanging += [asyncio.create_task(asked("meek", "/v1/hang")) for _ in range(50)]
            await asyncio.sleep(0.2)
            assert await asked("meek", "/v1/now") == 503
            assert await asked("meek", "/metrics") == 503, "a token's own share is its own fault"
            assert await asked("boss", "/v1/now") == 200
            assert (await http.get("/healthz")).status_code == 200
            goes_on.set()
            found = await asyncio.gather(*hanging)
            assert found.count(200) == 20 + 18 and found.count(503) == 62
            assert await asked("loud", "/v1/now") == 200

    asyncio.run(run())


def test_an_answer_that_is_read_too_slowly_is_broken_off(keeper: Gatekeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "STALLED", 0.5)
    sent: list[int] = []

    async def stream(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": b"x" * 200, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def read(pause: float) -> int:
        app = Door(stream, keeper=keeper, limits=Limits(rate=0), names=["service"], roles={})
        sent.clear()

        async def send(message: Any) -> None:
            await asyncio.sleep(pause)
            sent.append(len(message.get("body", b"")))

        headers = [(b"host", b"service"), (b"authorization", b"Bearer gbt_meek")]
        facts = {"type": "http", "method": "GET", "path": "/v1/x", "query_string": b"", "headers": headers}

        async def receive() -> Any:
            await asyncio.sleep(60)

        await app({**facts, "state": {}}, receive, send)
        return sum(sent)

    assert asyncio.run(read(0.001)) == 20_000
    assert 1_000 < asyncio.run(read(0.05)) < 4_000, "4 kB a second: for half a second"
