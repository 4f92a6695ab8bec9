"""The end of a session is found from the answers of a host, and from nothing else."""

from __future__ import annotations

import random

import pytest

from graphbrain.crawl.scrapy.sessions import ENOUGH, LAST, REST, Sessions, Sign

HOST = "a.example"


class Site:
    """Answers of a host, by a clock that is handed in, and what becomes of each."""

    def __init__(self) -> None:
        self.now, self.passed, self.back, self.ended = 0.0, list[int](), list[int](), list[str]()
        self.sessions = Sessions(
            lambda _, why: self.ended.append(why), lambda _: None, self.status, 1.0, lambda: self.now
        )
        self.number = 0

    async def status(self, _: str) -> int | None:
        return None

    def answer(self, sign: Sign, page: str = "") -> None:
        number, self.number = self.number, self.number + 1
        page = page or f"http://{HOST}/{number}"
        self.sessions.take(HOST, page, sign, lambda good: (self.passed if good else self.back).append(number))
        self.now += 1.0


def form(text: int) -> Sign:
    return Sign("form", f"http://{HOST}/", text)


@pytest.mark.parametrize("sign", [Sign("401"), Sign("403"), Sign("login", f"http://{HOST}/login"), form(5)])
def test_three_pages_end_it_and_none_of_them_passes(sign: Sign) -> None:
    site = Site()
    for one in [Sign()] * 4 + [sign] * ENOUGH:
        site.answer(one)
    assert len(site.ended) == 1 and site.passed == [0, 1, 2, 3] and site.back == [4, 5, 6]
    site.answer(sign)
    site.answer(Sign())
    assert site.back == [4, 5, 6, 7] and site.passed[-1] == 8 and site.sessions.withheld == 4


def test_one_page_thrice_is_one_page() -> None:
    site = Site()
    for _ in range(LAST + 5):
        site.answer(Sign("401"), f"http://{HOST}/members")
    assert not site.ended


def test_what_is_no_end_is_passed_on_after_the_tenth_answer() -> None:
    site = Site()
    for number in range(4 * LAST):
        site.answer(Sign("401") if number % (LAST // 2) == 0 else Sign())
        held = {n for n in range(site.number) if n % 5 == 0 and n > number - LAST}
        assert not site.ended and set(range(site.number)) - set(site.passed) == held


def test_texts_that_differ_are_a_box_in_the_header() -> None:
    dice, site = random.Random(7), Site()
    for _ in range(100):
        site.answer(form(dice.getrandbits(64)))
    assert not site.ended and not site.back and len(site.passed) == 100 - LAST


def test_texts_may_differ_by_three_bits() -> None:
    site = Site()
    for bits in (0, 0b111, 0b1):
        site.answer(form(bits))
    assert site.ended
    site = Site()
    for bits in (0, 0b1111, 0b11110000):
        site.answer(form(bits))
    assert not site.ended


def test_a_redirect_to_a_place_is_one_to_a_login_when_it_has_shown_a_form() -> None:
    site, led = Site(), Sign("led", f"http://{HOST}/start")
    for _ in range(ENOUGH + 1):
        site.answer(led)
    assert len(site.passed) == ENOUGH + 1 and not site.ended
    site.answer(Sign("form", f"http://{HOST}/start", 9))
    assert site.ended and site.back == [ENOUGH + 1]


def test_a_host_of_which_no_other_answer_comes_waits_no_longer() -> None:
    site = Site()
    site.answer(form(1))
    site.now += 60.0
    site.sessions.pass_quiet(lambda _: 2)
    assert not site.passed
    site.sessions.pass_quiet(lambda _: 1)
    assert site.passed == [0]
    site.answer(form(2))
    site.sessions.pass_quiet(lambda _: 1)
    assert site.passed == [0]
    site.sessions.pass_quiet(lambda _: 1, starved=True)
    assert site.passed == [0, 1]


def test_a_new_session_begins_anew() -> None:
    site = Site()
    for _ in range(ENOUGH):
        site.answer(Sign("401"))
    assert HOST in site.sessions.ended
    site.sessions.renewed()
    for _ in range(ENOUGH - 1):
        site.answer(Sign("401"))
    assert not site.sessions.ended and site.sessions.number == 1 and len(site.ended) == 1
    site.sessions.let_go()
    assert site.back == [0, 1, 2, 3, 4]


def test_other_hosts_are_waited_for() -> None:
    """A host whose session goes on keeps the crawl going for as long as its pages come."""
    site = Site()
    assert site.sessions.begins(HOST) and site.sessions.begins("b.example") and not site.sessions.only_ended()
    for _ in range(ENOUGH):
        site.answer(Sign("401"))
    assert not site.sessions.begins(HOST) and not site.sessions.only_ended()
    site.now += REST + 1.0
    assert site.sessions.only_ended() and site.sessions.begins("b.example") and not site.sessions.only_ended()
