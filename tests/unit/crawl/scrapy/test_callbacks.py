"""Which callback gets a page that nobody of this spider has linked to."""

from __future__ import annotations

from typing import ClassVar

import pytest
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from graphbrain import Claim
from graphbrain.crawl.scrapy.requests import EVERY, express, request_for, unread


class Shop(CrawlSpider):
    name = "shop"
    start_urls: ClassVar[list[str]] = ["http://a.example/item/start"]
    rules = (
        Rule(LinkExtractor(allow="/item/", deny="/item/old"), callback="parse_item"),
        Rule(LinkExtractor(allow="/list")),
    )

    def parse_item(self, response: object) -> None: ...


class Plain(Spider):
    name = "plain"

    def parse(self, response: object) -> None: ...


def claim(path: str) -> Claim:
    return Claim(f"http://a.example{path}", "0" * 32, "t", 0.0, "a.example", 3)


@pytest.mark.parametrize(("path", "rule"), [("/item/7", 0), ("/list/2", 1)])
def test_the_rules_of_a_crawl_spider_are_asked(path: str, rule: int) -> None:
    spider = Shop()
    request = request_for(claim(path), "", spider)
    assert getattr(request.callback, "__name__", "") == "_callback"
    assert request.meta["rule"] == rule
    assert unread(claim(path), "", spider) == ""


def test_what_no_rule_takes_goes_to_the_default_callback_and_is_said() -> None:
    spider = Shop()
    for path in ("/item/old/3", "/about"):
        assert request_for(claim(path), "", spider).callback is None
        assert "no rule of this spider" in unread(claim(path), "", spider)
    assert request_for(claim("/item/start"), "", spider).callback is None
    assert unread(claim("/item/start"), "", spider) == ""


def test_a_spider_without_any_callback_is_said() -> None:
    assert "no parse()" in unread(claim("/x"), "", Spider("bare"))
    assert unread(claim("/x"), "", Plain()) == ""
    assert unread(claim("/x"), '{"callback":"parse_item"}', Shop()) == ""


def test_what_each_process_sends_is_no_page() -> None:
    assert express(Request("http://a.example/login", meta={EVERY: True}), Plain()) is None
