"""The gate at which long polls wait: a hundred of them ask no more than one, and who brings pages opens it."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput, GraphRefused, GraphTooSmall, GraphUnavailable
from graphbrain.base.model import Claims
from graphbrain.service.access import Grant
from graphbrain.service.backend import LONGEST_NAP, MOST_AT_ONCE, Gate, Threads
from graphbrain.service.refusals import Refusal, refusal_of, validation_sentence
from graphbrain.service.seats import CALLER


async def poll(gate: Gate, brain: Brain, until: float) -> int:
    """One long poll as the service makes it: how many pages it got."""
    first = False
    while await gate.enter(until - time.monotonic(), first=first):
        mark = gate.mark()
        found = await brain.ask()
        if not found:
            gate.shut(Claims(()), 1e9, mark)
        gate.leave(served=bool(found))
        if found:
            return found
        first = True
    return 0


class Brain:
    """A brain with so many pages, which takes its time and counts how often it is asked."""

    def __init__(self, pages: int, seconds: float = 0.002) -> None:
        self.pages, self.seconds = pages, seconds
        self.asked = self.asking = self.most = 0

    async def ask(self) -> int:
        self.asked += 1
        self.asking += 1
        self.most = max(self.most, self.asking)
        await asyncio.sleep(self.seconds)
        self.asking -= 1
        got = min(1, self.pages)
        self.pages -= got
        return got


def test_many_wait_and_one_asks_at_a_time() -> None:
    async def run() -> tuple[int, int]:
        gate, brain = Gate(), Brain(0)
        until = time.monotonic() + 2.5
        got = await asyncio.gather(*(poll(gate, brain, until) for _ in range(500)))
        assert not any(got) and gate.empty_since(until - 2.5) is not None
        return brain.asked, brain.most

    asked, most = asyncio.run(run())
    assert most <= MOST_AT_ONCE, "of 500 that come at once a few ask"
    assert asked <= MOST_AT_ONCE + 4, "and then one a second"


@settings(max_examples=20, deadline=None)
@given(
    polls=st.integers(1, 120),
    batches=st.lists(st.tuples(st.floats(0.0, 0.3), st.integers(1, 60)), min_size=1, max_size=4),
    gone=st.sets(st.integers(0, 119), max_size=40),
)
def test_pages_that_come_are_had_by_those_who_wait_however_many_go_away(
    polls: int, batches: list[tuple[float, int]], gone: set[int]
) -> None:
    async def run() -> None:
        gate, brain = Gate(), Brain(0, 0.001)
        until = time.monotonic() + 30.0  # the machine may be busy; the loop below ends as soon as all is well
        waiting = [asyncio.create_task(poll(gate, brain, until)) for _ in range(polls)]
        await asyncio.sleep(0.01)
        for number in gone & set(range(polls)):
            waiting[number].cancel()
        for pause, pages in batches:
            await asyncio.sleep(pause)
            brain.pages += pages
            gate.open()
        stay = [task for number, task in enumerate(waiting) if number not in gone]
        wanted = min(len(stay), sum(pages for _, pages in batches))
        while sum(task.done() and task.result() for task in stay) < wanted:
            assert time.monotonic() < until - 0.5, "pages are there, and polls that nobody lets in"
            await asyncio.sleep(0.01)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(run())


def test_it_opens_when_something_comes_and_after_a_second_anyway() -> None:
    async def run() -> float:
        gate = Gate()
        gate.shut(Claims(()), 1e9, gate.mark())
        assert gate.is_shut()
        began = time.monotonic()
        asyncio.get_running_loop().call_later(0.05, gate.open)
        assert await gate.enter(60.0)
        gate.leave()
        assert not gate.is_shut()
        took = time.monotonic() - began
        gate.shut(Claims(()), 1e9, gate.mark())
        assert await gate.enter(LONGEST_NAP + 60.0)
        gate.leave()
        return took

    assert asyncio.run(run()) < LONGEST_NAP


def test_what_comes_while_the_brain_is_asked_keeps_the_gate_open() -> None:
    async def run() -> None:
        gate = Gate()
        mark = gate.mark()
        gate.open()
        gate.shut(Claims(()), 1e9, mark)
        assert not gate.is_shut() and await gate.enter(0.0)

    asyncio.run(run())


def test_nothing_is_told_that_the_brain_did_not_say_since() -> None:
    async def run() -> None:
        gate = Gate()
        assert gate.empty_since(-1.0) is None
        told = Claims((), next_ready=7.0)
        gate.shut(told, 1.0, gate.mark())
        assert gate.empty_since(time.monotonic() - 5.0) is told
        assert gate.empty_since(time.monotonic() + 0.001) is None

    asyncio.run(run())


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


def test_threads_go_to_tokens_in_turns_and_operators_get_in_when_others_fill_the_queue() -> None:
    async def run() -> tuple[list[str], list[object]]:
        threads, ended = Threads("test", 1, 16), []

        async def work(name: str, role: str = "crawler") -> None:
            CALLER.set(Grant(name, role, 0.0, None, None))  # type: ignore[arg-type]
            await threads.run(time.sleep, 0.005)
            ended.append(name)

        try:
            tasks = [asyncio.create_task(work("loud")) for _ in range(20)]
            await asyncio.sleep(0)
            tasks += [asyncio.create_task(work("meek")) for _ in range(3)]
            tasks += [asyncio.create_task(work(f"other{number}")) for number in range(20)]
            await asyncio.sleep(0)
            tasks += [asyncio.create_task(work("boss", "operator"))]
            return ended, await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            threads.close()

    ended, all_ = asyncio.run(run())
    assert ended.count("loud") == 8, "half of the places are one token's at most"
    assert ended.count("meek") == 3 and ended.count("boss") == 1
    assert ended.index("meek") <= 2 and ended.index("boss") < len(ended) - 4
    assert all(each is None or isinstance(each, Refusal) for each in all_)


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
