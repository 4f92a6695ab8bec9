"""The built pages of docs/ in a real browser: one page of each kind, wide and on a phone, light and dark.

Needs the extras `docs` and `browser`, and a Chromium of the system.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.documents import DOCS

pytestmark = [pytest.mark.browser, pytest.mark.long]
PAGES = (
    "index",
    "tutorials/first-crawl",
    "how-to/politeness",
    "reference/settings",
    "explanation/sections",
    "benchmarks/index",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo", reason="the extra 'docs' is not installed")
    built = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-m", "sphinx", "-W", "-q", DOCS, built], check=True)
    return built


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_a_page_fits_and_axe_finds_nothing(pages: Path, chromium: Any, width: int, scheme: str) -> None:
    axe = Path(pytest.importorskip("axe_playwright_python", reason="axe-core is not installed").__file__)
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE * 1000)
    for name in PAGES:
        page.goto((pages / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.add_script_tag(path=axe.with_name("axe.min.js"))
        found = page.evaluate("axe.run()")["violations"]
        assert not [(name, each["id"], each["nodes"][0]["html"][:120]) for each in found]
    page.close()
