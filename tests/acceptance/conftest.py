"""What several acceptance tests need: tokens for a service on their brain, spiders, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from graphbrain import Brain
from tests.acceptance.scrapy_processes import Spiders
from tests.plugin import Neo4j
from tests.serving import tokens

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def given(brain: Brain) -> dict[str, str]:
    """Role → its token, on the brain of the module."""
    return tokens(brain)


@pytest.fixture
def spiders(neo4j: Neo4j) -> Iterator[Spiders]:
    """Spiders of Scrapy on the brain under test."""
    started = Spiders(neo4j)
    yield started
    started.end()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
