"""`bench scrapy` on a web of a few pages: both crawls fetch all of it, and the brain is empty afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput
from graphbrain_lab.bench import scrapy_pair


def test_both_crawl_the_same_web(brain: Brain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scrapy_pair, "ROUNDS", 1)
    for name, others in (("index", "a b"), ("a", "b"), ("b", "index")):
        links = "".join(f"<a href={other}.html>{other}</a>" for other in others.split())
        (tmp_path / f"{name}.html").write_text(f"<html><body>{links}</body></html>", encoding="utf-8")
    figures = scrapy_pair.scrapy_pair(brain, tmp_path, 0, None)
    assert figures["pages_plain"] == figures["pages_brain"] == 4  # index.html is / and itself
    assert figures["client_ms_plain"] > 0 and figures["client_ms_brain"] > 0
    assert figures["client_ratio"] == figures["client_ms_plain"] / figures["client_ms_brain"]
    assert brain.stats()["pages"] == 0


def test_a_directory_without_a_first_page_is_refused(brain: Brain, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"index\.html"):
        scrapy_pair.scrapy_pair(brain, tmp_path, 0, None)
