"""No public site leads a crawl to a private address, however the address is written, and whenever a name gets it."""

from __future__ import annotations

import asyncio
import random
from ipaddress import IPv4Address, IPv6Address

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings as ProjectSettings

from graphbrain.base.settings import Settings
from graphbrain.crawl.order import CrawlOrder, hosts_named
from graphbrain.crawl.scrapy import Addon, ScrapyOptions
from graphbrain.crawl.scrapy.private import PrivateAddress, PrivateAddresses, PublicOnly, is_private

PRIVATE = [
    "127.0.0.1",
    "127.8.9.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "0.0.0.0",
    "100.64.1.1",
]
PUBLIC = ["93.184.216.34", "8.8.8.8", "1.1.1.1"]


def spellings(address: str) -> list[str]:
    """One IPv4 address as a host of a URL, in the forms that browsers take."""
    number, parts = int(IPv4Address(address)), address.split(".")
    low = number & 0xFFFF
    six = [f"::ffff:{address}", str(IPv6Address((0x0064FF9B << 96) | number)), f"2002:{number >> 16:x}:{low:x}::1"]
    return [address, str(number), hex(number), ".".join(hex(int(part)) for part in parts), *(f"[{one}]" for one in six)]


def asked(addresses: PrivateAddresses, url: str) -> bool:
    """Whether a request is sent, through a proxy, which resolves names itself."""
    try:
        asyncio.run(addresses.check_request(Request(url, meta={"proxy": "http://127.0.0.1:1"})))
    except PrivateAddress as error:
        assert "--allow-private" in str(error)
        return False
    return True


@pytest.mark.parametrize("address", [*PRIVATE, *PUBLIC])
def test_an_address_is_judged_in_all_its_forms(address: str) -> None:
    for host in spellings(address):
        assert asked(PrivateAddresses(["a.example"]), f"http://{host}:81/x") == (address in PUBLIC), host
        assert asked(PrivateAddresses([address]), f"http://{host}:81/x") >= (address in PUBLIC)
    for other in ("[::1]", "[fe80::1]", "[fc00::1]", "[::]", "[ff02::1]", "[fec0::1]", "168.63.129.16"):
        assert not asked(PrivateAddresses(), f"http://{other}/")


@pytest.mark.parametrize("seed", range(60))
def test_a_name_is_judged_by_what_it_is_now(seed: int) -> None:
    """A name that the user has named may be private if it is so at first. Others may never be."""
    dice = random.Random(seed)
    named = dice.random() < 0.5
    addresses = PrivateAddresses(["Named.example"] if named else [])
    first = None
    for _ in range(6):
        address = dice.choice([*PRIVATE, *PUBLIC, "::1", "2606:4700::1111"])
        private = is_private(address)
        first = private if first is None else first
        allowed = not private or (named and first)
        if allowed:
            addresses.check("named.example", address)
        else:
            with pytest.raises(PrivateAddress):
                addresses.check("named.example", address)


def test_the_user_names_hosts_by_urls_and_by_the_scope() -> None:
    order = CrawlOrder(("http://127.0.0.1:8931/", "https://a.example/x"), render_from=("cdn.example",))
    brain = Settings.read(environ={}, allow_hosts="b.example:81 [::1]:82")
    assert hosts_named(order, brain) == {"127.0.0.1", "a.example", "cdn.example", "b.example", "[::1]"}
    assert hosts_named(CrawlOrder(), Settings.read(environ={})) == set()


def test_a_project_sets_it_for_its_spiders() -> None:
    """Its start URLs name the hosts that may be private."""

    class Some(Spider):
        name = "some"
        start_urls = ("http://127.0.0.1:1/",)

    for given, there in ((False, True), ("0", True), (True, False), (None, False)):
        settings = ProjectSettings({} if given is None else {"GRAPHBRAIN_ALLOW_PRIVATE": given})
        Addon().update_settings(settings)
        assert (PublicOnly in settings["DOWNLOADER_MIDDLEWARES"]) == there
        assert ScrapyOptions.of(settings).brain == {}
    crawler = Crawler(Some, ProjectSettings({"GRAPHBRAIN_ALLOW_PRIVATE": False}))
    crawler.spider = Some()
    step = PublicOnly(crawler)
    asyncio.run(step.process_request(Request("http://127.0.0.1:2/")))
    with pytest.raises(PrivateAddress):
        asyncio.run(step.process_request(Request("http://127.0.0.2/latest/meta-data")))
