"""Cookies and headers of a user: how they are read; and lines that a killed process has left."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from graphbrain import Answer, Fetched
from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim
from graphbrain.crawl import secrets
from graphbrain.crawl.jsonl import PageLines
from graphbrain.crawl.order import CrawlOrder
from graphbrain.crawl.scrapy import ScrapyOptions, ScrapyVisit
from graphbrain.crawl.scrapy.documents import links_of
from graphbrain.crawl.secrets import LimitedCookies, cookies_of, header_of
from graphbrain.crawl.spider import PageReader, makes_links
from graphbrain.crawl.watching import CrawlWatch

URLS = [f"http://a.example/{n}" for n in range(3)]
COOKIES = "# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tFALSE\t0\tsession\tabc\n"


def test_a_header_is_a_name_and_a_value() -> None:
    assert header_of("X-Key:  a: b ") == ("X-Key", "a: b")
    for text, said in (
        ("X-Key", "Name: value"),
        ("Cookie: a", "--cookies"),
        ("Host: a", "nothing"),
        ("A b: c", "Name"),
    ):
        with pytest.raises(BadInput, match=said):
            header_of(text)
    with pytest.raises(BadInput) as error:
        header_of("X-Key: secr\u20acet")
    assert "secr" not in str(error.value)


def test_cookies_are_those_of_a_netscape_file(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(COOKIES, encoding="utf-8")
    (cookie,) = cookies_of(file)
    assert cookie.value == "abc" and not cookie.is_expired()
    file.write_text(COOKIES.replace("\t0\t", "\t1000\t"), encoding="utf-8")
    with pytest.raises(BadInput, match="expired"):
        cookies_of(file)
    file.write_text(COOKIES + COOKIES.replace("\t0\t", "\t1000\t").replace("a.example", "b.example"), encoding="utf-8")
    assert [cookie.domain for cookie in cookies_of(file)] == [".a.example"]
    for nothing in ("", "# Netscape HTTP Cookie File\n\n"):
        file.write_text(nothing, encoding="utf-8")
        with pytest.raises(BadInput, match="no cookies: export"):
            cookies_of(file)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(BadInput, match="Netscape"):
        cookies_of(file)
    with pytest.raises(BadInput, match="cannot be read"):
        cookies_of(tmp_path / "none")


def claimed(token: str) -> Fetched:
    claim = Claim("http://a.example/", "k", token, 1e10, "a.example", 1)
    return Fetched(claim.url, ["http://a.example/x"], claim, title="A", size=3)


def test_lines_are_whole_and_belong_to_one_process(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(b'{"url": "http://a.example/before"}\n{"url": "htt')
    with PageLines(file) as lines:
        with pytest.raises(BadInput, match="Another crawl"):
            PageLines(file)
        lines.before([claimed("t1")])
        assert (tmp_path / "pages.jsonl.journal").stat().st_size
        lines.after([claimed("t1")], [Answer("http://a.example/", True, outcome="new")])
    told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line["url"] for line in told] == ["http://a.example/before", "http://a.example/"]
    assert told[1]["outcome"] == "new" and told[1]["title"] == "A" and "links" not in told[1] and told[1]["depth"] == 1
    assert not (tmp_path / "pages.jsonl.journal").exists()


def test_pages_that_were_claimed_together_have_a_line_and_a_text_each(tmp_path: Path) -> None:
    """They have one token. What a killed process had recorded and not written is written by the next."""
    made = [replace(claimed("t"), url=url, claim=replace(one, url=url)) for url in URLS if (one := claimed("t").claim)]
    visits = [ScrapyVisit(n, each.claim, response=page(f"<p>text {n}")) for n, each in enumerate(made) if each.claim]
    answers = [Answer(url, True, outcome="new") for url in URLS]
    with PageLines(tmp_path / "pages.jsonl", text=True) as lines:
        for visit, each in zip(visits, made, strict=True):
            lines.finished(visit, each)
        lines.before(made)
        journal = (tmp_path / "pages.jsonl.journal").read_text(encoding="utf-8").splitlines()
        lines.after(made, answers)
    told = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["url"], line["text"]) for line in told] == [(url, f"text {n}") for n, url in enumerate(URLS)]
    assert len(journal) == len(URLS)


def test_a_link_that_is_no_url_loses_no_page() -> None:
    reader = PageReader(ScrapyOptions(), "bot", CrawlOrder(), CrawlWatch())
    _, links = reader.read(page('<a href="http://[bad/x.zip">b</a><a href=y>y</a><a href=z.zip>z</a>'), {})
    assert [link if isinstance(link, str) else link.url for link in links][-1] == "http://a.example/d/y"


def test_of_a_crawl_that_comes_back_only_news_are_written(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    with PageLines(file, news=True) as lines:
        for outcome in ("new", "same", "changed"):
            lines.after([claimed(outcome)], [Answer("http://a.example/", True, outcome=outcome)])  # type: ignore[arg-type]
    assert [json.loads(line)["outcome"] for line in file.read_text(encoding="utf-8").splitlines()] == ["new", "changed"]


def page(body: str, **headers: str) -> HtmlResponse:
    return HtmlResponse("http://a.example/d/x", body=body.encode(), encoding="utf-8", headers=dict(headers))


def test_the_links_of_a_page_are_read_once_each_in_order() -> None:
    body = """<base href="/b/"><a href="y#top"> One  <b>two</b></a><a href=y rel="nofollow ugc">x</a>
        <area href="//c.example/z" rel=nofollow><iframe src=frame></iframe><a href="mailto:a@a.example">m</a><a>none</a>
        <a href=" JavaScript:void(0)">j</a><a href="">same</a>"""
    assert links_of(page(body)) == {
        "http://a.example/b/y": ("One two", ""),
        "http://c.example/z": ("", "nofollow"),
        "http://a.example/b/frame": ("", ""),
    }


def test_nofollow_of_a_page_is_for_everybody_or_for_us() -> None:
    def meta(name: str, content: str) -> HtmlResponse:
        return page(f'<meta name="{name}" content="{content}"><a href=y>y</a>')

    def forbids(response: HtmlResponse, agent: str) -> bool:
        reader = PageReader(ScrapyOptions(), agent, CrawlOrder(), CrawlWatch())
        return not reader.read(response, {})[1]

    assert forbids(meta("robots", "noindex, NoFollow"), "bot") and forbids(meta("ROBOTS", "none"), "bot")
    assert forbids(meta("bot", "nofollow"), "Bot") and not forbids(meta("other", "nofollow"), "bot")
    assert not forbids(meta("robots", "noindex"), "bot")
    link, header = "<p><a href=y>y</a>", {"X-Robots-Tag": "other: nofollow"}
    assert not forbids(page(link, **header), "bot") and forbids(page(link, **header), "other")
    for aside in ("noscript", "template", "svg"):
        assert not forbids(page(f"<{aside}><meta name=robots content=nofollow></{aside}>{link}"), "bot")


def test_cookies_of_sites_are_limited_and_those_of_the_user_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cookies of a domain, and the domains, that were set first go. A cookie that is set again is new."""
    monkeypatch.setattr(secrets, "MOST_COOKIES", 3)
    monkeypatch.setattr(secrets, "MOST_DOMAINS", 2)
    file = tmp_path / "cookies.txt"
    file.write_text("# Netscape HTTP Cookie File\na.example\tFALSE\t/\tFALSE\t0\tours\t1\n")
    jar = LimitedCookies().jar
    for given in cookies_of(file):
        jar.set_cookie(given)

    def answer(host: str, *names: str) -> None:
        request = Request(f"http://{host}/")
        for name in names:
            response = Response(request.url, headers={"Set-Cookie": f"{name}=1"})
            jar.extract_cookies(response, request)

    def names(host: str) -> set[str]:
        return {cookie.name for cookie in jar if cookie.domain == host}

    answer("a.example", "n0", "n1", "n2", "n0", "n3")
    assert names("a.example") == {"ours", "n2", "n0", "n3"}
    answer("b.example", "n")
    answer("a.example", "n4")
    answer("c.example", "n")
    assert not names("b.example") and names("a.example") == {"ours", "n0", "n3", "n4"}
    answer("d.example", *map(str, range(100)))
    assert names("a.example") == {"ours"} and len(jar) == 1 + 1 + 3


@pytest.mark.parametrize(
    ("body", "makes"),
    [
        ("<script src=a.js></script>", True),
        ("<script type=module>x</script>", True),
        ('<script type="application/ld+json">{}</script>', False),
        ("<p>text", False),
        ("<!-- <script></script> --><p>", False),
    ],
)
def test_a_page_without_a_link_that_runs_scripts_may_make_them(body: str, makes: bool) -> None:
    assert makes_links(page(body)) == makes


@pytest.mark.parametrize("seed", range(60))
def test_cookies_are_read_however_a_program_writes_them(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    lines = ["# Netscape HTTP Cookie File", "# a comment", ""] if dice.random() < 0.5 else []
    dot, wide = dice.choice(["", "."]), dice.choice(["TRUE", "FALSE", "true", "False"])
    until = dice.choice(["4102444800", "4102444800.53", "0", ""])
    value = dice.choice(["ok", 'a="b c"==', ""])
    fields = [f"{dice.choice(['', '#HttpOnly_'])}{dot}Site.example", wide, "/", dice.choice(["FALSE", "false"]), until]
    lines.append("\t".join([*fields, "sid", value]))
    text = dice.choice(["\n", "\r\n"]).join([*lines, ""])
    file = tmp_path / "cookies.txt"
    file.write_bytes((b"\xef\xbb\xbf" if dice.random() < 0.3 else b"") + text.encode())
    jar, request = LimitedCookies().jar, Request("http://site.example/a")
    for cookie in cookies_of(file):
        jar.set_cookie(cookie)
    jar.add_cookie_header(request)
    assert request.headers.get("Cookie") == f"sid={value}".encode(), text
    below = Request("http://www.site.example/")
    jar.add_cookie_header(below)
    assert "Cookie" in below.headers or (not dot and wide.lower() == "false"), text


@pytest.mark.parametrize(
    "line",
    ["a.example\tTRUE\t/", "a.example\tyes\t/\tFALSE\t0\tn\tsecret", "a.example\tTRUE\t/\tFALSE\tsoon\tn\tsecret"],
)
def test_a_line_that_is_no_cookie_is_named_without_its_value(tmp_path: Path, line: str) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(f"# Netscape HTTP Cookie File\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="line 2") as refused:
        cookies_of(file)
    assert "secret" not in str(refused.value)
