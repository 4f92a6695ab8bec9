"""What a user asks for becomes the brain's settings, and is refused where the brain's are others."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.settings import Settings
from graphbrain.base.urls.normalization import host_of
from graphbrain.content.scope import Scope
from graphbrain.crawl import config
from graphbrain.crawl import order as orders
from graphbrain.crawl.order import CrawlOrder


def brain_of(order: CrawlOrder) -> Settings:
    """The settings of a brain that was made for this order."""
    return Settings.read(environ={}, **orders.shared(order))


def holds(order: CrawlOrder, url: str) -> bool:
    return Scope.of(brain_of(order)).holds(url, host_of(url), 0)


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("host", ["http://docs.site.example/x", "https://docs.site.example/"], ["http://a.docs.site.example/"]),
        ("domain", ["http://site.example/", "https://a.b.site.example:8080/"], ["http://mysite.example/"]),
        ("prefix", ["http://docs.site.example/guide/x?y=1"], ["http://docs.site.example/guid", "http://site.example/"]),
    ],
)
def test_a_scope_holds_what_its_name_says(scope: str, inside: list[str], outside: list[str]) -> None:
    order = CrawlOrder(("http://docs.site.example/guide/start",), scope=scope)
    assert holds(order, "http://docs.site.example/guide/start")
    assert all(holds(order, url) for url in inside)
    assert not any(holds(order, url) for url in [*outside, "http://other.example/", "http://docs.site.example.evil/"])


def test_a_port_is_a_part_of_a_host() -> None:
    order = CrawlOrder(("http://127.0.0.1:8931/",))
    assert holds(order, "http://127.0.0.1:8931/a") and not holds(order, "http://127.0.0.1:8932/a")


def test_the_start_is_fetched_whatever_is_included() -> None:
    order = CrawlOrder(
        ("http://a.example/",), include=("/news/", r"^http://a\.example/b"), exclude=(r"\.pdf$", "print=1")
    )
    for url in ("http://a.example/", "http://a.example/x/news/1", "http://a.example/bcd"):
        assert holds(order, url)
    for url in ("http://a.example/x", "http://a.example/news/1.pdf", "http://b.example/news/"):
        assert not holds(order, url)


parts = st.text("abc.-+(|)[*", min_size=1, max_size=6)


@given(st.lists(parts, min_size=1, max_size=3), st.sampled_from(orders.SCOPES))
def test_the_same_order_fits_its_own_brain_and_each_part_of_it(paths: list[str], scope: str) -> None:
    urls = tuple(f"http://h{n}.example/{path}/x" for n, path in enumerate(paths))
    order = CrawlOrder(urls, scope=scope)
    brain = brain_of(order)
    assert not orders.refusal(brain, order)
    assert not orders.refusal(brain, CrawlOrder(urls[:1]))
    assert not orders.refusal(brain, CrawlOrder())
    other = CrawlOrder(("http://else.example/",), scope=scope)
    assert "outside the scope" in orders.refusal(brain, other)
    both = replace(brain, **orders.added_to(brain, other))
    assert not orders.refusal(both, order) and not orders.refusal(both, other)
    assert not orders.added_to(both, other)


def test_what_differs_is_refused_in_a_sentence() -> None:
    order = CrawlOrder(("http://a.example/",), delay=2.0, user_agent="bot/1 (+me@a.example)")
    brain = brain_of(order)
    assert not orders.refusal(brain, CrawlOrder(("http://a.example/x",)))
    for other, word in (
        (replace(order, delay=1.0), "delay_seconds"),
        (replace(order, user_agent="other/1"), "user_agent"),
        (replace(order, max_depth=3), "max_depth"),
        (replace(order, exclude=("x",)), "deny_urls"),
        (replace(order, scope="prefix", urls=("http://a.example/b/c",)), "allow_urls"),
    ):
        said = orders.refusal(brain, other)
        assert word in said and said.endswith(".") and "\n" not in said


def test_a_brain_that_limits_nothing_stays_so() -> None:
    assert orders.added_to(Settings.read(environ={}), CrawlOrder(("http://a.example/",))) == {}


@pytest.mark.parametrize("url", ["http://", "mailto:a@b.example", "http://a b/"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="no URL"):  # before a server is started for it
        CrawlOrder((url,)).checked()
    assert CrawlOrder(("a.example/x",)).bare_urls() == ["http://a.example/x"]


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (CrawlOrder(("a.example",), include=("(",)), "--include is not a regular expression"),
        (CrawlOrder(scope="host"), "need the URLs"),
        (CrawlOrder(("a.example",), text=True), "--jsonl"),
    ],
)
def test_options_that_make_no_sense_are_refused(order: CrawlOrder, said: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(said)):
        order.checked()


def test_a_contact_is_an_address_or_a_url() -> None:
    assert orders.agent_for("me@a.example", "1") == "graphbrain/1 (+me@a.example)"
    assert not orders.lacks_contact(orders.agent_for("https://a.example/bot", "1"))
    for text in ("", "me", "a b@c.example", "x) evil"):
        with pytest.raises(BadInput):
            orders.agent_for(text, "1")
    with pytest.raises(BadInput):
        orders.token("()")
    assert orders.is_local(["http://127.0.0.1:80/", "http://localhost/"]) and not orders.is_local(["http://a.example/"])


def test_a_file_of_options(tmp_path: Path) -> None:
    file, names = tmp_path / "crawl.toml", {"urls", "max_pages", "include"}
    file.write_text('urls = ["http://a.example/"]\nmax-pages = 3\n', encoding="utf-8")
    assert config.options_in(file, names) == {"urls": ["http://a.example/"], "max_pages": 3}
    for text, said in (("max-page = 3", "max_pages"), ("x", "TOML"), ("[include]\na=1", "table")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError, match=said):
            config.options_in(file, names)
    with pytest.raises(SettingsError, match="cannot be read"):
        config.options_in(tmp_path / "none.toml", names)


def test_an_empty_brain_has_settings_that_an_order_leaves() -> None:
    """Those that differ from the defaults, as `clear` keeps them; the scope of a new order is its own."""
    brain = Settings(delay_seconds=5.0, allow_hosts="b.example", user_agent="other (+me@a.example)")
    urls = ("http://a.example/",)
    assert orders.kept(brain, CrawlOrder(urls)) == {"delay_seconds": 5.0, "user_agent": "other (+me@a.example)"}
    assert orders.kept(brain, CrawlOrder(urls, delay=2.0)) == {"user_agent": "other (+me@a.example)"}
    assert not orders.kept(Settings(), CrawlOrder(urls))
