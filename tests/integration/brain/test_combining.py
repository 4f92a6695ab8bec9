"""Calls of several callers in one transaction: each has its own claims, tokens, keys and answers, whatever the others
do."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claims, Unusable
from graphbrain.brain.combine import Ticket
from graphbrain.frontier.reports import report
from tests.integration.conftest import lose_an_answer
from tests.plugin import PATIENCE


def pages(count: int, start: int = 0) -> list[str]:
    return [f"http://h{number}.example/" for number in range(start, start + count)]


def claimed(brain: Brain, *calls: tuple[int, str, str | None], owners: Sequence[str] = ()) -> list[Claims]:
    """What calls (n, worker, key) are answered that are made together."""
    claiming = brain._claiming
    tickets: list[Any] = [
        Ticket(claiming._wish(n, worker, key), owner, n)
        for (n, worker, key), owner in zip(calls, owners or [worker for _, worker, _ in calls], strict=True)
    ]
    claiming._answer(tickets)
    return [ticket.future.result(0) for ticket in tickets]


def reported(brain: Brain, *calls: Sequence[Any] | Callable[[], Sequence[Any]]) -> list[Any]:
    """What calls of `report` are answered that are made together: answers, or what was raised."""
    reporting = brain._reporting

    def made(call: Any) -> Callable[[], Any]:
        return lambda: reporting._taken_in(call() if callable(call) else call)

    tickets: list[Any] = [Ticket(made(call), place, len(calls)) for place, call in enumerate(calls)]
    reporting._answer(tickets)
    found: list[Any] = []
    for ticket in tickets:
        error = ticket.future.exception(0)
        try:
            found.append(error or reporting.alone(ticket.future.result(0)))
        except Exception as own:  # noqa: BLE001
            found.append(own)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_claims_are_dealt_out_each_with_its_own_token_and_worker(brain: Brain, seed: int) -> None:
    dice = random.Random(seed)
    count = dice.randrange(0, 60)
    brain.seed(pages(count))
    calls = [(dice.randrange(1, 9), f"w{number}", dice.choice((None, f"k{number}"))) for number in range(12)]
    answers = claimed(brain, *calls)
    got = [claim.url for answer in answers for claim in answer]
    assert len(got) == len(set(got)) == min(count, sum(n for n, *_ in calls)), "all there are, each once"
    tokens = [{claim.token for claim in answer} for answer in answers]
    assert all(len(own) <= 1 for own in tokens) and len(set().union(*tokens)) == sum(map(len, tokens))
    for (n, worker, key), answer in zip(calls, answers, strict=True):
        assert len(answer) <= n and not answer.repeated
        assert (answer.next_ready is None) is (len(answer) == n), "when more will be there, as alone"
        assert {brain.page(claim.url).worker for claim in answer} <= {worker}
        if key is not None and answer:
            again = brain.next_urls(n, worker=worker, key=key)
            assert (
                again.repeated and {claim.token for claim in again} == {answer[0].token} and len(again) == len(answer)
            )
    if count < 12:
        assert sorted(map(len, answers), reverse=True) == [1] * count + [0] * (12 - count), "nobody has all of few"


def test_owners_have_the_same_of_few_pages_however_many_calls_they_make(brain: Brain) -> None:
    brain.seed(pages(20))
    calls: list[tuple[int, str, str | None]] = [(5, f"loud{number}", None) for number in range(10)]
    calls.append((10, "meek", None))
    answers = claimed(brain, *calls, owners=[*["loud"] * 10, "meek"])
    assert len(answers[-1]) == 10 == sum(map(len, answers[:-1]))


def test_a_used_key_gets_its_own_and_costs_its_neighbours_nothing(brain: Brain) -> None:
    brain.seed(pages(20))
    before = brain.next_urls(3, worker="a", key="used")
    one, again, two, same, twin = claimed(
        brain, (4, "b", None), (3, "a", "used"), (4, "c", "fresh"), (2, "d", "twin"), (2, "e", "twin")
    )
    assert again.repeated and {claim.url for claim in again} == {claim.url for claim in before}
    assert (len(one), len(two), len(same)) == (4, 4, 2) and not (one.repeated or two.repeated or same.repeated)
    assert twin.repeated and {claim.url for claim in twin} == {claim.url for claim in same}
    assert brain.stats()["leased"] == 13, "no page is held that nobody was told of"


@pytest.mark.parametrize("used", [False, True])
def test_when_the_answer_of_a_round_is_lost_each_finds_its_own(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, used: bool
) -> None:
    brain.seed(pages(30))
    left = lose_an_answer(monkeypatch)
    answers = claimed(brain, (3, "a", None), (4, "b", "kb"), (1, "c", "kc" if used else None))
    assert not left
    assert [len(answer) for answer in answers] == [3, 4, 1]
    got = [claim for answer in answers for claim in answer]
    assert len({claim.url for claim in got}) == 8 == brain.stats()["leased"]
    assert all(brain.renew(list(answer)) for answer in answers)
    assert {brain.page(claim.url).worker for claim in answers[1]} == {"b"}


def test_reports_are_answered_each_by_itself(brain: Brain) -> None:
    brain.seed(pages(9))
    claims = list(brain.next_urls(9))
    bad = Unusable("http://x.example/", None, "it is broken")
    broken: Any = Fetched("http://y.example/", iter_of_nothing())
    one, two, three, none = reported(
        brain,
        [Fetched(claim.url, pages(3, 50), claim) for claim in claims[:4]],
        [bad, Fetched(claims[4].url, ["http://new.example/"], claims[4]), broken],
        [Fetched(claim.url, [], claim) for claim in claims[5:]],
        [],
    )
    assert all(answer.accepted for answer in one + three) and none == []
    assert [answer.accepted for answer in two] == [False, True, False] and "broken" in two[0].reason
    assert [answer.url for answer in one] == [claim.url for claim in claims[:4]]
    stats = brain.stats()
    assert stats["states"]["known"] == 9 and stats["leased"] == 0 and brain.audit(None).ok


def iter_of_nothing() -> Any:
    raise_at = iter([1])
    return (next(raise_at) / 0 for _ in range(1))


def test_a_page_that_several_report_is_visited_by_one_after_the_other(brain: Brain) -> None:
    brain.seed(pages(1))
    (claim,) = brain.next_urls(1)
    same = [Fetched(claim.url, pages(2, 5), claim)]
    first, again, other = reported(brain, same, same, [Fetched(claim.url, pages(1, 5))])
    assert first[0].accepted and again[0].accepted and "later visit" in other[0].reason, "judged as one after the other"
    assert brain.page(claim.url).visits == 1
    (twice,) = reported(brain, [*same, *same])
    assert [answer.accepted for answer in twice] == [True, False], "in one call it is refused, as alone"


def test_who_cannot_make_his_reports_fails_alone(brain: Brain) -> None:
    def broken() -> Sequence[Any]:
        raise BadInput("no reports")

    found = reported(brain, [Fetched("http://a.example/", [])], broken, [Fetched("http://b.example/", [])])
    assert isinstance(found[1], BadInput)
    assert found[0][0].accepted and found[2][0].accepted


def test_a_heavy_report_costs_its_neighbours_nothing(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_OF_ONE", 30)
    monkeypatch.setattr(report, "MOST_OF_ALL", 60)
    small = [[Fetched(f"http://s{number}.example/", pages(3, 10 * number))] for number in range(8)]
    heavy = [Fetched("http://heavy.example/", pages(200))]
    order: list[str] = []
    record = brain._reporting._record_at_once

    def noted(items: Any, **given: Any) -> Any:
        done = record(items, **given)
        order.append("heavy" if any(len(item.targets) > 30 for item in items) else "small")
        return done

    monkeypatch.setattr(brain._reporting, "_record_at_once", noted)
    found = reported(brain, *small[:4], heavy, *small[4:])
    assert all(answers[0].accepted for answers in found)
    assert order[0] == "small" and order[-1] == "heavy", "the others are done before it"
    assert found[4][0].links == 200 and brain.audit(None).ok


def test_what_fails_for_one_fails_for_nobody_else(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    record = brain._reporting._record_at_once

    def failing(items: Any, **given: Any) -> Any:
        if any("poison" in item.url for item in items):
            raise LookupError("poison")
        return record(items, **given)

    monkeypatch.setattr(brain._reporting, "_record_at_once", failing)
    calls = [[Fetched(f"http://s{number}.example/", [])] for number in range(7)]
    calls.insert(3, [Fetched("http://poison.example/", [])])
    found = reported(brain, *calls)
    assert isinstance(found.pop(3), LookupError)
    assert all(answers[0].accepted for answers in found)


@pytest.mark.long
def test_threads_that_crawl_together_lose_and_double_nothing(brain: Brain) -> None:
    """An outside ledger: what each thread was told, of several transactions of which some are lost on the way."""
    brain.seed(pages(400))
    lock, told, accepted = threading.Lock(), Counter[str](), Counter[str]()

    def crawl(number: int) -> None:
        dice = random.Random(number)
        with_key = number % 2 == 0
        for turn in range(40):
            key = f"{number}-{turn}" if with_key else None
            n = dice.choice((1, 2, 5, 30))
            claims = brain.next_urls(n, worker=f"w{number}", key=key)
            if with_key and dice.random() < 0.3:  # as if the answer was lost
                again = brain.next_urls(n, worker=f"w{number}", key=key)
                assert not claims or {c.url for c in again} == {c.url for c in claims}
                claims = again  # of a call that got nothing the key was not used
            with lock:
                told.update(claim.url for claim in claims)
            back = [claim for claim in claims if dice.random() < 0.1]
            assert all(brain.give_back(back))
            with lock:
                told.subtract(claim.url for claim in back)
            answers = brain.report([Fetched(c.url, pages(3, dice.randrange(600)), c) for c in claims if c not in back])
            assert all(answer.accepted for answer in answers)
            with lock:
                accepted.update(answer.url for answer in answers)

    with ThreadPoolExecutor(16) as threads:
        for each in [threads.submit(crawl, number) for number in range(16)]:
            each.result(PATIENCE * 20)
    assert max(told.values()) == 1, "no page is claimed by two"
    assert +told == accepted
    stats = brain.stats()
    assert stats["leased"] == 0 and stats["states"]["known"] == len(accepted)
    assert brain.audit(None).ok
