"""A redirect is an answer: the target is asked for by its own claim, and only a cookie is a reason to ask again."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from graphbrain import Answer, Claim, Fetched
from graphbrain.crawl.redirects import Redirects
from graphbrain.crawl.returns import Returns
from graphbrain.crawl.scrapy import CLAIM, Reader, ScrapyOptions, ScrapyVisit
from graphbrain.crawl.scrapy.repairs import CookieWalls

URL = "http://a.example/page"
STATUSES = (301, 302, 303, 307, 308)


def claim(url: str = URL) -> Claim:
    return Claim(url, "k" * 32, "t" * 32, 0.0, "a.example", 0)


def answered(status: int, place: str, cookie: bool, *, asked: Request | None = None) -> Request | Response:
    """What Scrapy goes on with after this answer."""
    run = SimpleNamespace(returns=Returns())
    step = Redirects(SimpleNamespace(spider=SimpleNamespace(run=run)))  # type: ignore[arg-type]
    request = asked or Request(URL, meta={CLAIM: claim()}, headers={"Cookie": "old=1"})
    step.process_request(request)
    assert request.meta["dont_redirect"]
    headers: dict[str, Any] = {"Location": place} | ({"Set-Cookie": "seen=1"} if cookie else {})
    answer = step.process_response(request, Response(URL, status, headers=headers))
    return CookieWalls().process_response(request, answer)


@pytest.mark.parametrize("seed", range(40))
def test_no_redirect_is_followed_but_one_to_the_same_url_with_a_cookie_once(seed: int) -> None:
    dice = random.Random(seed)
    status, cookie = dice.choice(STATUSES), dice.random() < 0.5
    same = dice.choice(["/page", URL, "HTTP://A.example:80/x/../page", "//a.example/page", "page#top"])
    other = dice.choice(["/page?x=1", "http://b.example/page", "https://a.example/page", "/", "mailto:x@y", "http://["])
    place = dice.choice([same, other])
    found = answered(status, place, cookie)
    if place == same and cookie:
        assert isinstance(found, Request) and found.url == URL and "Cookie" not in found.headers
        assert isinstance(answered(status, place, cookie, asked=found), Response), "once"
        return
    assert isinstance(found, Response)
    visit = ScrapyVisit(1, claim(), response=found)
    report = visit.result(Reader(ScrapyOptions()))
    assert isinstance(report, Fetched) and report.status == status and not report.led_to
    if "[" not in place and "mailto" not in place:
        assert report.redirected_to is not None and report.redirected_to.startswith("http")


class Told:
    """A brain that notes what is to be claimed."""

    def __init__(self) -> None:
        self.wanted: list[str] = []

    def crawl_now(self, urls: list[str]) -> None:
        """Note these pages."""
        self.wanted += urls


@pytest.mark.parametrize("seed", range(40))
def test_a_page_is_claimed_again_when_a_detour_with_a_cookie_leads_back(seed: int) -> None:
    """A chain of redirects that ends at its first page: if a cookie came on the way, that page is asked for once."""
    dice = random.Random(seed)
    returns, brain = Returns(), Told()
    chain = [f"http://a.example/{n}" for n in range(dice.randrange(2, 5))]
    sets = [dice.random() < 0.4 for _ in chain]
    for turn in range(2):
        for number, url in enumerate(chain):
            target = chain[(number + 1) % len(chain)]
            headers = {"Location": target} | ({"Set-Cookie": "c=1"} if sets[number] and not turn else {})
            response = Response(url, dice.choice(STATUSES), headers=headers)
            returns.cookies["a.example"] += "Set-Cookie" in headers
            returns.note(ScrapyVisit(1, claim(url), response=response), Fetched(url, status=302, redirected_to=target))
            returns.claim_again(brain)  # type: ignore[arg-type]
    assert len(brain.wanted) == len(set(brain.wanted))
    assert (chain[0] in brain.wanted) == any(sets)
    content = [Fetched(url, status=200) for url in brain.wanted]
    for wanted in ("new", "same"):  # its first content is new, whatever the brain makes of it; later it is not
        answers = returns.as_new(content, [Answer(one.url, True, outcome="same") for one in content])
        assert {answer.outcome for answer in answers} <= {wanted}
