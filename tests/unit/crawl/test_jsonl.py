"""The content that a file of lines has: a page is asked for what is newer only where its line has the last one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, Response

from graphbrain import Answer, Claim, Fetched
from graphbrain.crawl.jsonl import PageLines
from graphbrain.crawl.order import CrawlOrder
from graphbrain.crawl.scrapy import ScrapyOptions, ScrapyVisit
from graphbrain.crawl.spider import PageReader
from graphbrain.crawl.watching import CrawlWatch

URL = "http://a.example/"
HTML = b'<?xml version="1.0" encoding="utf-8"?><html><title>t</title><p>%b <a href="/x">x</a></html>'


def visit(lines: PageLines, body: bytes | None, etag: str, outcome: str, url: str = URL) -> None:
    """Let a page be fetched, or not be modified, and reported."""
    claim = Claim(url, "k", f"t{etag}{outcome}", 1e10, "a.example", 1)
    response = HtmlResponse(url, body=body or b"", encoding="utf-8", headers={"Content-Type": "text/html"})
    if body is None:
        report = Fetched(url, (), claim, 304, not_modified=True, etag=etag)
    else:
        report = Fetched(url, ["http://a.example/x"], claim, title="t", size=len(body), etag=etag)
    lines.finished(ScrapyVisit(1, claim, response=response), report)
    lines.before([report])
    lines.after([report], [Answer(url, True, outcome=outcome)])  # type: ignore[arg-type]


def written(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@given(
    steps=st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["here", "elsewhere", "new run"])), max_size=20)
)
@pytest.mark.parametrize("text", [True, False])
def test_the_last_full_line_of_a_page_is_what_the_site_has(
    tmp_path_factory: pytest.TempPathFactory, text: bool, steps: list[tuple[str, str]]
) -> None:
    """Whatever the page becomes, and if others fetch it in between: a page that is not asked for in full is in the file
    as it is now."""
    file = tmp_path_factory.mktemp("lines") / "pages.jsonl"
    lines, known = PageLines(file, text=text), ""
    for body, where in steps:
        if where == "new run":
            lines.__exit__()
            lines = PageLines(file, text=text)
        outcome = "same" if body == known else "changed" if known else "new"
        known = body
        if where == "elsewhere":
            continue
        newer = lines.holds(URL, f'"{body}"', None)
        visit(lines, None if newer else HTML % body.encode(), f'"{body}"', outcome)
        full = [line for line in written(file) if line["status"] == 200]
        assert full[-1]["etag"] == f'"{body}"' and full[-1]["links"] == 1
        assert not text or full[-1]["text"] == f"t {body} x"
        assert all("links" not in line and "text" not in line for line in written(file) if line["status"] == 304)
    lines.__exit__()


def test_a_file_of_news_has_each_page_once_that_it_lacks(tmp_path: Path) -> None:
    """As it is when it is first seen, and when it has changed while another file was written."""
    for bodies in ((b"A", b"A"), (b"A",), (b"BB", b"BB")):
        with PageLines(tmp_path / "news.jsonl", text=True, news=True) as lines:
            for nth, body in enumerate(bodies):
                visit(lines, HTML % body, f'"{nth}"', "same")
    assert [line["text"] for line in written(tmp_path / "news.jsonl")] == ["t A x", "t BB x"]


def test_a_file_without_texts_does_not_hold_a_page_for_one_with_them(tmp_path: Path) -> None:
    with PageLines(tmp_path / "pages.jsonl") as lines:
        visit(lines, HTML % b"A", '"A"', "new")
        assert lines.holds(URL, '"A"', None) and not lines.holds(URL, '"B"', None)
    with PageLines(tmp_path / "pages.jsonl", text=True) as lines:
        assert not lines.holds(URL, '"A"', None)


def unread() -> Iterator[Response]:
    """Answers whose links nobody has read."""
    yield Response(URL, body=b"%PDF-1.7", headers={"Content-Type": "application/pdf"})
    body = HTML % b"<meta name=robots content=nofollow>"
    yield HtmlResponse(URL, body=body, encoding="utf-8", headers={"Content-Type": "text/html"})


@pytest.mark.parametrize("response", [*unread()], ids=["no page", "not to be followed"])
def test_links_that_are_not_known_are_not_counted(tmp_path: Path, response: Response) -> None:
    reader = PageReader(ScrapyOptions(), "bot", CrawlOrder(), CrawlWatch())
    claim = Claim(URL, "k", "t", 1e10, "a.example", 1)
    one = ScrapyVisit(1, claim, response=response)
    report = one.result(reader)
    assert isinstance(report, Fetched)
    with PageLines(tmp_path / "pages.jsonl") as lines:
        lines.finished(one, report)
        lines.after([report], [Answer(URL, True, outcome="new")])
    assert "links" not in written(tmp_path / "pages.jsonl")[0]
