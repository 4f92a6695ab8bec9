"""The end of a session is found from the answers of a host, and from nothing else."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from graphbrain import Claim
from graphbrain.crawl.scrapy.sessions import ENOUGH, LAST, REST, Sessions, Sign, SignedOut, _sign_of

HOST = "a.example"


class Site:
    """Answers of a host, by a clock that is handed in, and what becomes of each."""

    def __init__(self) -> None:
        self.now, self.passed, self.back, self.ended = 0.0, list[int](), list[int](), list[str]()
        self.sessions = Sessions(self, 1.0, lambda: self.now)  # type: ignore[arg-type]  # what is called here
        self.sessions.answer_at = self.answer_at  # type: ignore[method-assign]
        self.number, self.asked, self.answers = 0, list[str](), dict[str, Response]()
        self.known = ""

    def session_ended(self, _: str, why: str) -> None:
        self.ended.append(why)

    def holds(self, url: str) -> bool:
        return HOST in url

    async def good_page_of(self, _: str) -> str:
        return self.known

    async def answer_at(self, url: str) -> Response | None:
        self.asked.append(url)
        return self.answers.get(url)

    def answer(self, sign: Sign, page: str = "") -> None:
        number, self.number = self.number, self.number + 1
        page = page or f"http://{HOST}/{number}"
        self.sessions.take(HOST, page, sign, lambda good: (self.passed if good else self.back).append(number))
        self.now += 1.0

    def pass_quiet(self, under_way: int = 1, starved: bool = False) -> None:
        for host in self.sessions.quiet(lambda _: under_way, starved):
            asyncio.run(self.sessions.check(host))


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


def led(page: int) -> Sign:
    return Sign("led", f"http://{HOST}/start?next={page}")


LOGIN = b"<p>Sign in<input type=password>"


@pytest.mark.parametrize("body", [LOGIN, b"<p>Home"])
def test_an_address_to_which_three_pages_lead_is_looked_at_once(body: bytes) -> None:
    site, is_login = Site(), body == LOGIN
    site.answers[led(2).address] = HtmlResponse(led(2).address, body=body, encoding="utf-8")
    site.answer(Sign())
    for page in range(ENOUGH + 1):
        site.answer(led(page))
        if site.sessions.begins_look(HOST, led(page)):
            site.now += 60.0
            site.pass_quiet()  # it is being looked at: nothing is passed on
            assert site.passed == [0]
            asyncio.run(site.sessions.look(HOST, led(page)))
    assert site.asked == [led(2).address] and len(site.ended) == is_login
    assert (site.passed, site.back) == (([0], [1, 2, 3, 4]) if is_login else ([0, 4], []))


def test_an_address_outside_the_scope_is_not_asked_for() -> None:
    site, out = Site(), Sign("led", "http://b.example/")
    asyncio.run(site.sessions.look(HOST, out))
    assert not site.asked


@pytest.mark.parametrize("body", [LOGIN, b"<p>Home"])
@pytest.mark.parametrize("sign", [Sign("401"), Sign("login"), Sign("led", f"http://{HOST}/y"), form(3)])
def test_at_the_end_a_page_that_came_shows_whether_the_session_goes_on(sign: Sign, body: bytes) -> None:
    site, good = Site(), f"http://{HOST}/good"
    site.answers[good] = HtmlResponse(good, body=body, encoding="utf-8")
    for each in (Sign("", good), Sign(), sign):
        site.answer(each)
    site.pass_quiet(starved=True)
    assert site.asked == [good] and len(site.ended) == (body == LOGIN)
    assert (site.passed, site.back) == (([0, 1], [2]) if body == LOGIN else ([0, 1, 2], []))


def test_an_address_that_was_fetched_is_not_looked_at_again() -> None:
    site = Site()
    for sign in (Sign(), Sign("form", f"http://{HOST}/start", 9), led(1), led(2), led(3)):
        site.answer(sign)
    assert len(site.ended) == 1 and site.back == [1, 2, 3, 4]


def test_redirects_to_a_page_are_no_end_where_all_pages_have_a_login_box() -> None:
    site = Site()
    for number in range(4):
        site.answer(form(1 << 16 * number | 0xFF << 8 * number))
    for page in range(2 * ENOUGH):
        site.answer(Sign("led", f"http://{HOST}/?from={page}"))
    assert not site.ended and not site.back


@pytest.mark.parametrize("same", [True, False])
def test_a_process_without_a_good_answer_asks_for_a_page_that_the_brain_knows(same: bool) -> None:
    """As one that begins when the session has ended. A login box with a text of its own is no end."""
    site = Site()
    site.known = f"http://{HOST}/known"
    text = "The form." if same else " ".join(f"word{number}" for number in range(90))
    site.answers[site.known] = page_with_form(site.known, text)
    for number in range(2):
        site.answer(_sign_of(page_with_form(f"http://{HOST}/{number}", "The form.")), f"http://{HOST}/{number}")
    site.now += 60.0
    site.pass_quiet()
    assert site.asked == [site.known] and bool(site.ended) == same
    assert (site.back if same else site.passed) == [0, 1]


def page_with_form(url: str, text: str) -> HtmlResponse:
    return HtmlResponse(url, body=f"<p>{text}<form><input type=password></form>".encode(), encoding="utf-8")


def test_a_host_of_which_no_other_answer_comes_waits_no_longer() -> None:
    site = Site()
    site.answer(form(1))
    site.now += 60.0
    site.pass_quiet(2)
    assert not site.passed
    site.pass_quiet()
    assert site.passed == [0]
    site.answer(form(2))
    site.pass_quiet()
    assert site.passed == [0]
    site.pass_quiet(starved=True)
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


@pytest.mark.parametrize(
    ("status", "body", "last", "kind"),
    [
        (200, LOGIN, None, "form"),
        (200, LOGIN, (200, None), "form"),
        (200, LOGIN, (200, True), ""),
        (200, b"<p>Home", (200, None), ""),
        (200, b"<p>rendered", None, "form"),
        (403, b"<p>no", (200, None), "403"),
        (403, b"<p>no", (404, None), ""),
        (403, LOGIN, None, "form"),
        (401, b"", (200, None), "401"),
        (500, LOGIN, None, ""),
    ],
)
def test_what_an_answer_shows_depends_on_the_last_visit_of_its_page(
    status: int, body: bytes, last: tuple[int, bool | None] | None, kind: str
) -> None:
    """The body `rendered` stands for a page whose scripts write the form."""
    page = None if last is None else SimpleNamespace(status=last[0], password_field=last[1])

    class Crawl(Site):
        async def page_of(self, _: str) -> Any:
            return page

        async def shown(self, _: Request, response: Response) -> Response:
            return response.replace(body=LOGIN) if b"rendered" in response.body else response

    answer = HtmlResponse(f"http://{HOST}/1", status=status, body=body, encoding="utf-8")
    claim = Claim(answer.url, "k" * 32, "t" * 32, 0.0, HOST, 0)
    sign = SignedOut(get_crawler())._sign(Sessions(Crawl()), Request(answer.url), claim, answer)  # type: ignore[arg-type]
    assert asyncio.run(sign).kind == kind  # type: ignore[arg-type]
