"""The summary of a crawl: what is not counted when the time is over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from graphbrain.crawl.closing import CrawlEnd, found, lines
from graphbrain.crawl.watching import CrawlWatch


class Asked:
    """A brain of one page with a broken link; `questions` are those that it was asked."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.graph = SimpleNamespace(read=lambda *_: [("", 1)])

    def stats(self) -> dict[str, int]:
        return {"pages": 1, "outside_pages": 0}

    def ask(self, question: str, limit: int) -> Any:
        self.questions.append(question)
        return SimpleNamespace(columns=("broken", "pages"), rows=[("http://a.example/x", 2)][:limit])


@pytest.mark.parametrize("seconds", [None, 60.0, 0.0])
def test_all_pages_are_not_counted_after_the_time(seconds: float | None) -> None:
    brain: Any = Asked()
    end = found(brain, seconds)
    is_over = seconds == 0.0
    assert end == CrawlEnd({}, 1, 1, None if is_over else (1, 1), None if is_over else 1)
    assert brain.questions == ([] if is_over else ["broken-links", "duplicates"])
    said = dict(lines(CrawlWatch(), 1.0, end, ["here"]))
    assert said["broken"].startswith("not counted: " if is_over else "1 link ")
    assert said["duplicates"].startswith("not counted: " if is_over else "1 page ")
