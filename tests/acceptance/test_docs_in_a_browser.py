"""The built pages of docs/ in a real browser, at the width of a desk and of a phone: every page is looked at for what
does not fit and for headings that occur twice, and a page of each kind by axe, too.

axe needs some seconds a page. All pages are seen by it with

    python -m tests.acceptance.test_docs_in_a_browser BUILT

where BUILT is what `sphinx-build -W docs BUILT` has made. The tests make it themselves, unless TEST_GRAPHBRAIN_DOCS
names it. Needs the extras `docs` and `browser`, and a Chromium of the system.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import CHROMIUM
from tests.documents import DOCS, PAGES
from tests.plugin import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.long]
ALL = (*(name.removesuffix(".md") for name in PAGES), "genindex", "search")
"""All pages, with the two that Sphinx adds."""
OF_EACH_KIND = (
    "index",
    "tutorials/first-crawl",
    "how-to/politeness",
    "reference/settings",
    "explanation/sections",
    "benchmarks/index",
    "search",
)
VIEWS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]

FITS = """() => {
    const edge = document.documentElement.clientWidth;
    const cut = [...document.querySelectorAll("article img, article svg")].filter(
        one => !one.closest(".table-wrapper, pre") && one.getBoundingClientRect().right > edge + 1);
    const titles = [...document.querySelectorAll("h1, h2, h3, h4")].map(one => one.textContent);
    return [
        ...(document.documentElement.scrollWidth > edge ? [`${document.documentElement.scrollWidth} px wide`] : []),
        ...cut.map(one => `cut off: ${one.outerHTML.slice(0, 120)}`),
        ...titles.filter((one, number) => titles.indexOf(one) !== number).map(one => `twice: ${one}`),
        ...(document.querySelectorAll("h1").length === 1 ? [] : ["not one title"]),
    ];
}"""
AXE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
    each => `${each.id}: ${each.nodes[0].html.slice(0, 120)}`)"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if given := os.environ.get("TEST_GRAPHBRAIN_DOCS"):
        return Path(given)
    pytest.importorskip("furo", reason="the extra 'docs' is not installed")
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, "-m", "sphinx", "-W", "-q", DOCS, folder], check=True)
    return folder


def faults(
    chromium: Any, built: Path, names: Iterable[str], width: int, scheme: str, *, axe: bool
) -> dict[str, list[str]]:
    """Return the faults of these pages, by page; those without one are not in it."""
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE * 1000)
    seen = {}
    for name in names:
        page.goto((built / f"{name}.html").as_uri())
        seen[name] = page.evaluate(FITS)
        if axe:
            page.add_script_tag(path=_axe())
            seen[name] += page.evaluate(AXE)
    page.close()
    return {name: faulty for name, faulty in seen.items() if faulty}


def _axe() -> Path:
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return Path(package.__file__).with_name("axe.min.js")


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.nightly), 400])
def test_every_page_fits_and_has_no_heading_twice(built: Path, chromium: Any, width: int) -> None:
    assert len(ALL) > 70
    assert not faults(chromium, built, ALL, width, "light", axe=False)


@pytest.mark.parametrize(
    ("width", "scheme"), [VIEWS[0], VIEWS[3], *(pytest.param(*view, marks=pytest.mark.nightly) for view in VIEWS[1:3])]
)
def test_axe_finds_nothing_on_a_page_of_each_kind(built: Path, chromium: Any, width: int, scheme: str) -> None:
    assert not faults(chromium, built, OF_EACH_KIND, width, scheme, axe=True)


def test_the_faults_of_a_bad_page_are_found(chromium: Any, tmp_path: Path) -> None:
    bad = (
        "<html><head><title>Bad</title></head><body><main><article><h2>Two</h2><h2>Two</h2>"
        '<img style="width: 2000px; height: 9px" src="none.svg"></article></main></body></html>'
    )
    (tmp_path / "bad.html").write_text(bad, encoding="utf-8")
    wide, cut, twice, title, *of_axe = faults(chromium, tmp_path, ["bad"], 400, "light", axe=True)["bad"]
    assert wide.endswith(" px wide") and cut.startswith("cut off: <img") and twice == "twice: Two"
    assert title == "not one title"
    assert {"image-alt", "html-has-lang"} <= {each.partition(":")[0] for each in of_axe}


def main() -> int:
    """Print the faults of all pages in all views, and return the exit code."""
    from playwright.sync_api import sync_playwright

    count = 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, scheme in VIEWS:
            for name, seen in faults(chromium, Path(sys.argv[1]), ALL, width, scheme, axe=True).items():
                print("\n".join(f"{name} at {width} pixels, {scheme}: {each}" for each in seen), flush=True)
                count += len(seen)
        chromium.close()
    print(f"{len(ALL)} pages in {len(VIEWS)} views: {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
