"""The web of `bench scrapy`: all of it can be reached from its first page, and it is the same each time."""

from __future__ import annotations

import re
from pathlib import Path

from graphbrain_lab.bench.scrapy_spider import generated, of_directory


def test_every_page_of_the_generated_web_can_be_reached() -> None:
    for count in (1, 2, 50):
        web = generated(count)
        assert len(web) == count and web == generated(count)
        seen, todo = {"/"}, ["/"]
        for path in todo:
            for target in re.findall(r'href="([^"]+)"', web[path][1].decode()):
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        assert seen == set(web) | {"/"}


def test_a_directory_is_a_web(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text("<a href=deep/b.txt>b</a>", encoding="utf-8")
    (tmp_path / "deep" / "b.txt").write_text("b", encoding="utf-8")
    web = of_directory(tmp_path)
    assert set(web) == {"/", "/index.html", "/deep/b.txt"}
    assert web["/"] == ("text/html", b"<a href=deep/b.txt>b</a>")
    assert web["/deep/b.txt"][0] == "text/plain"
