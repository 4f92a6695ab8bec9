"""Group commit, with threads and without a graph: everybody gets his own answer, once, and nobody waits for company."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.brain.combine import Combiner, Ticket
from tests.plugin import PATIENCE, eventually

Tickets = Sequence[Ticket[int, int]]


class Rounds:
    """Answers each request by its double, and notes the rounds; what is to fail fails the rest of its round."""

    def __init__(self, fails: frozenset[int] = frozenset(), seconds: float = 0.0) -> None:
        self.fails, self.seconds = fails, seconds
        self.rounds: list[list[int]] = []
        self.goes_on = threading.Event()
        self.goes_on.set()

    def __call__(self, tickets: Tickets) -> None:
        self.rounds.append([ticket.request for ticket in tickets])
        assert self.goes_on.wait(PATIENCE)
        time.sleep(self.seconds)
        for ticket in tickets:
            if ticket.request in self.fails:
                raise ValueError(ticket.request)
            ticket.answer(2 * ticket.request)


@settings(max_examples=40, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60), st.booleans()), min_size=1, max_size=60),
    fails=st.frozensets(st.integers(0, 59), max_size=5),
    lanes=st.integers(1, 3),
)
def test_everybody_gets_his_own_answer_once(
    requests: list[tuple[int, int, bool]], fails: frozenset[int], lanes: int
) -> None:
    rounds = Rounds(fails, 0.0005)
    combiner: Combiner[int, int] = Combiner(rounds, "test", most=100, alone=50, lanes=lanes)

    def ask(number: int) -> int:
        owner, size, waits = requests[number]
        return combiner.do(number, owner, size) if waits else combiner.submit(number, owner, size).result(PATIENCE)

    with ThreadPoolExecutor(16) as callers:
        answers = [callers.submit(ask, number) for number in range(len(requests))]
    combiner.close()
    done = Counter(number for numbers in rounds.rounds for number in numbers)
    assert done == Counter(range(len(requests))), "each is in one round"
    for numbers in rounds.rounds:
        sizes = [requests[number][1] for number in numbers]
        assert len(numbers) == 1 or sum(sizes) <= 100
        assert len(numbers) == 1 or not any(requests[number][2] and requests[number][1] >= 50 for number in numbers)
    for number, answer in enumerate(answers):
        failed = answer.exception()
        if failed is None:
            assert answer.result() == 2 * number
        else:
            (numbers,) = (numbers for numbers in rounds.rounds if number in numbers)
            assert isinstance(failed, ValueError) and fails.intersection(numbers)


def test_who_is_alone_does_it_himself_and_at_once() -> None:
    threads: list[str] = []

    def act(tickets: Tickets) -> None:
        threads.append(threading.current_thread().name)
        for ticket in tickets:
            ticket.answer(0)

    combiner: Combiner[int, int] = Combiner(act, "test", most=10, alone=5)
    for number in range(20):
        combiner.do(number, "me", 1)
    assert set(threads) == {threading.current_thread().name}
    combiner.close()


def held(most: float = 100) -> tuple[Rounds, Combiner[int, int], Future[int]]:
    """A combiner whose first round goes on until it is let go on."""
    rounds = Rounds()
    rounds.goes_on.clear()
    combiner: Combiner[int, int] = Combiner(rounds, "test", most=most, alone=1_000)
    first = combiner.submit(0, "first", 1)
    eventually(lambda: len(rounds.rounds) == 1, "a round that goes on")
    return rounds, combiner, first


def test_what_comes_meanwhile_goes_into_the_next_round() -> None:
    rounds, combiner, first = held()
    others = [combiner.submit(number, number % 3, 1) for number in range(1, 41)]
    rounds.goes_on.set()
    assert first.result(PATIENCE) == 0
    assert [other.result(PATIENCE) for other in others] == [2 * number for number in range(1, 41)]
    assert len(rounds.rounds) == 2
    combiner.close()


def test_a_loud_owner_waits_behind_himself() -> None:
    rounds, combiner, _ = held(most=10)
    loud = [combiner.submit(number, "loud", 1) for number in range(100, 200)]
    meek = [combiner.submit(number, "meek", 1) for number in (1, 2, 3)]
    rounds.goes_on.set()
    for future in (*loud, *meek):
        future.result(PATIENCE)
    assert {1, 2, 3} <= set(rounds.rounds[1])
    combiner.close()


def test_who_takes_his_request_back_before_its_round_is_in_none() -> None:
    rounds, combiner, _ = held()
    gone, stays = combiner.submit(1, "a", 1), combiner.submit(2, "a", 1)
    assert gone.cancel()
    rounds.goes_on.set()
    assert stays.result(PATIENCE) == 4
    assert rounds.rounds == [[0], [2]]
    combiner.close()


def test_ctrl_c_is_for_its_own_thread_and_the_others_are_answered() -> None:
    mine = threading.current_thread()
    begun, goes_on = threading.Event(), threading.Event()

    def act(tickets: Tickets) -> None:
        if threading.current_thread() is mine:
            assert begun.wait(PATIENCE)
            raise KeyboardInterrupt
        for ticket in tickets:
            ticket.answer(ticket.request)

    combiner: Combiner[int, int] = Combiner(act, "test", most=10, alone=5)
    with ThreadPoolExecutor(4) as callers:

        def other(number: int) -> int:
            assert goes_on.wait(PATIENCE)
            return combiner.do(number, number, 1)

        others = [callers.submit(other, number) for number in range(4)]
        threading.Timer(0.2, begun.set).start()
        goes_on.set()
        while True:  # until it is this thread that leads
            try:
                combiner.do(9, "me", 1)
            except KeyboardInterrupt:
                break
        assert sorted(each.result(PATIENCE) for each in others) == [0, 1, 2, 3]
    combiner.close()


def test_an_answer_that_nobody_waits_for_any_more_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = Rounds()
    rounds.goes_on.clear()
    undone: list[int] = []
    combiner: Combiner[int, int] = Combiner(
        rounds, "test", most=10, alone=5, undo=lambda answer: undone.append(answer.result())
    )
    first = combiner.submit(7, "first", 1)
    eventually(lambda: len(rounds.rounds) == 1, "a round that goes on")

    def interrupted(*_: object) -> int:
        rounds.goes_on.set()
        eventually(lambda: len(rounds.rounds) == 2, "its round")
        raise KeyboardInterrupt

    rounds.seconds = 0.3
    with monkeypatch.context() as patch:
        patch.setattr(Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            combiner.do(8, "me", 1)
    eventually(lambda: undone == [16], "what was undone")
    assert first.result(PATIENCE) == 14
    combiner.close()


def test_a_round_that_leaves_somebody_without_an_answer_is_told_so() -> None:
    combiner: Combiner[int, int] = Combiner(lambda _: None, "test", most=10, alone=5)
    with pytest.raises(AssertionError, match="without an answer"):
        combiner.do(1, "me", 1)
    combiner.close()
