"""The pages that users read, as data: README.md and docs/, with the parts that are made from the code."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))

import from_code  # noqa: E402

OTHER_SETTINGS = from_code.OTHER
TOPICS = from_code.TOPICS
topics = from_code.topics
PARTS = from_code.PARTS
expanded = from_code.expanded
messages = from_code.messages
untold = from_code.untold

ARCHIVE = "archive/"
"""Pages below this folder are kept as they were, outside the navigation."""
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if "build" not in path.relative_to(DOCS).parts
}
"""Path below docs/ → the page as it was written."""
TEXT = "\n\n## \n\n".join([README, *(text for name, text in PAGES.items() if name != "index.md")])
"""All pages, with an empty heading between each two, so that a section ends with its page."""


@cache
def built(name: str) -> str:
    """Return one page as Sphinx reads it, with the parts that are made from the code."""
    return from_code.expanded(PAGES[name])


def blocks(language: str, text: str = TEXT) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def tables(text: str) -> int:
    """Return the number of tables in a text."""
    return len(re.findall(r"^\|[ :|-]+\|$", text, re.MULTILINE))


def section(page: str, title: str) -> str:
    """Return the text below a heading of a page, with the sections inside it.

    Raises:
        AssertionError: The page has no such heading, or two.
    """
    text = built(page)
    found = list(re.finditer(rf"^(#+) {re.escape(title)}\n", text, re.MULTILINE))
    assert len(found) == 1, f"docs/{page} has {len(found)} sections {title!r}"
    rest = text[found[0].end() :]
    after = re.search(rf"^#{{1,{len(found[0][1])}}} ", rest, re.MULTILINE)
    return rest[: after.start()] if after else rest
