"""The gate at which long polls wait: a hundred of them ask no more than one, and who brings pages opens it."""

from __future__ import annotations

import asyncio
import time

import pytest

from graphbrain.errors import BadInput, GraphRefused, GraphTooSmall, GraphUnavailable
from graphbrain.service.backend import LONGEST_NAP, Gate, Threads
from graphbrain.service.refusals import Refusal, refusal_of, validation_sentence


def test_many_wait_and_one_asks_at_a_time() -> None:
    asked = 0

    async def poll(gate: Gate, until: float) -> None:
        nonlocal asked
        async with gate.turn:
            while (left := until - time.monotonic()) > 0:
                await gate.pass_(left)
                asked += 1
                gate.shut(0.1)

    async def run() -> None:
        gate = Gate()
        gate.shut(0.1)
        until = time.monotonic() + 1.0
        await asyncio.gather(*(poll(gate, until) for _ in range(100)))

    asyncio.run(run())
    assert 1 <= asked <= 11


def test_it_opens_when_something_comes_and_after_a_second_anyway() -> None:
    async def run() -> float:
        gate = Gate()
        gate.shut(1e9)
        assert gate.is_shut()
        began = time.monotonic()
        asyncio.get_running_loop().call_later(0.05, gate.open)
        await gate.pass_(60.0)
        assert not gate.is_shut()
        took = time.monotonic() - began
        gate.shut(1e9)
        await gate.pass_(LONGEST_NAP + 60.0)
        return took

    assert asyncio.run(run()) < LONGEST_NAP


def test_more_than_the_threads_and_their_queue_are_refused() -> None:
    async def run() -> list[object]:
        threads = Threads("test", 1, 2)
        try:
            work = [threads.run(time.sleep, 0.05) for _ in range(5)]
            return await asyncio.gather(*work, return_exceptions=True)
        finally:
            threads.close()

    ended = asyncio.run(run())
    assert [type(each) for each in ended] == [type(None)] * 3 + [Refusal] * 2


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"type": "json_invalid", "loc": ("body", 3)}, "not JSON"),
        ({"type": "extra_forbidden", "loc": ("body", "m")}, "no 'm' here"),
        ({"type": "missing", "loc": ("body", "urls")}, "'urls' is missing"),
        ({"type": "missing", "loc": ("body",)}, "body of JSON"),
        ({"type": "int_type", "loc": ("body", "n"), "msg": "Input should be an integer", "input": "secret"}, "'n'"),
    ],
)
def test_what_is_wrong_with_a_request_is_told_in_a_sentence(error: dict[str, object], words: str) -> None:
    said = validation_sentence([error])
    assert words in said and "secret" not in said and said.endswith(".")


def test_where_the_database_is_stays_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for kind, status in ((GraphUnavailable, 503), (GraphRefused, 502), (GraphTooSmall, 503)):
        told = refusal_of(kind("Neo4j at bolt://10.0.0.7 said: neo4j"))
        assert told.status == status and "bolt" not in told.message and told.kind == kind.__name__
    assert caplog.text.count("bolt://10.0.0.7") == 3
    assert refusal_of(BadInput("n is wrong")).message == "n is wrong"
