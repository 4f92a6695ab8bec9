"""The pages of docs/ as a whole: none is lost, each is in the navigation, and no link between them is broken."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from graphbrain.analyst.dictionary import NODES, TIME
from tests.contract import rooms
from tests.contract.test_rooms import PLACE
from tests.documents import (
    ARCHIVE,
    DOCS,
    PAGES,
    PARTS,
    ROOT,
    TEXT,
    blocks,
    built,
    expanded,
    messages,
    section,
    tables,
    untold,
)

KINDS = ("tutorials", "how-to", "reference", "explanation", "benchmarks")
LEAST_PAGES = {"tutorials": 7, "how-to": 25, "reference": 15, "explanation": 15, "benchmarks": 3}
LEAST_BLOCKS = {"python": 12, "sh": 4, "console": 5, "cypher": 2, "toml": 1, "yaml": 1, "json": 1, "sql": 1}
LEAST_TABLES = 40
LIVE = {name: text for name, text in PAGES.items() if not name.startswith(ARCHIVE)}


def without_code(text: str) -> str:
    """A page without its fenced and its indented blocks, and without code between backticks."""
    text = re.sub(r"^([`:]{3,})(?!\{(?:grid|card|toctree)).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^    .*$", "", text, flags=re.MULTILINE))


def anchors(text: str) -> set[str]:
    """The anchors that MyST makes of the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    found: Counter[str] = Counter()
    names = set()
    for title in re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\s-]", "", title.replace("`", "").lower()).strip()
        slug = re.sub(r"\s", "-", slug)
        names.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return names | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def test_no_page_block_or_table_is_lost() -> None:
    """What other tests check lies in pages, blocks and tables: a check is not to be lost by a file that moves."""
    pages = Counter(name.partition("/")[0] for name in LIVE)
    assert {kind: pages[kind] >= least for kind, least in LEAST_PAGES.items()} == dict.fromkeys(LEAST_PAGES, True), (
        pages
    )
    found = {language: len(blocks(language)) for language in LEAST_BLOCKS}
    assert all(found[language] >= least for language, least in LEAST_BLOCKS.items()), found
    assert sum(tables(text) for text in LIVE.values()) >= LEAST_TABLES
    assert len(TEXT) > 200_000


def test_every_page_is_in_the_navigation_and_the_archive_is_not() -> None:
    inside = {"index.md"}
    waiting = ["index.md"]
    while waiting:
        name = waiting.pop()
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", PAGES[name], re.MULTILINE | re.DOTALL):
            for entry in re.findall(r"^(?!:)([\w/-]+)$", tree, re.MULTILINE):
                other = (PurePosixPath(name).parent / f"{entry}.md").as_posix()
                assert other in PAGES, f"docs/{name} names {entry}"
                waiting += [other] if other not in inside else []
                inside.add(other)
    assert inside == set(LIVE)


@pytest.mark.parametrize("name", sorted(LIVE))
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    text = without_code(PAGES[name])
    for target in re.findall(r"\]\(([^)\s]+)\)|:link: (\S+\.md)", text):
        target = "".join(target)
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (DOCS / name).parent / path if path else DOCS / name
        assert file.exists(), f"docs/{name}: {target}"
        if anchor:
            other = file.resolve().relative_to(DOCS).as_posix()
            assert anchor in anchors(built(other)), f"docs/{name}: {target}"


def test_what_the_repository_names_of_the_docs_is_there() -> None:
    """Messages, docstrings and other files name pages by their path."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    wrong = []
    for file in listed:
        if (
            not file.endswith((".py", ".md", ".cypher", ".go", ".mjs", ".toml"))
            or file == "tests/contract/test_docs.py"
        ):
            continue
        if not (path := ROOT / file).exists():
            continue
        text = path.read_text(encoding="utf-8")
        wrong += [f"{file}: {each}" for each in re.findall(r"docs/[\w/-]+\.md", text) if not (ROOT / each).exists()]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(LIVE))
def test_a_page_has_one_title_and_no_heading_twice(name: str) -> None:
    text = re.sub(r"^```.*?^```$", "", PAGES[name], flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert len(titles) == 1, titles
    headings = re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE)
    assert len(headings) == len(set(headings)), [each for each, count in Counter(headings).items() if count > 1]


def test_the_pictures_are_what_the_script_draws(tmp_path: Path) -> None:
    drawn = DOCS / "pictures"
    subprocess.run([sys.executable, drawn / "draw.py", tmp_path], check=True)
    made = {path.name: path.read_text(encoding="utf-8") for path in sorted(tmp_path.glob("*.svg"))}
    assert made == {path.name: path.read_text(encoding="utf-8") for path in sorted(drawn.glob("*.svg"))}
    assert len(made) >= 8


def test_the_picture_of_the_rooms_has_their_imports() -> None:
    """An import that follows from others has no arrow of its own."""
    picture = runpy.run_path(str(DOCS / "pictures" / "draw.py"))
    drawn = set(picture["IMPORTS"])
    found = {(room, other) for room, other in rooms.arrows() if room != "lab"}
    assert picture["ROOMS"].keys() == PLACE.keys() - {"lab"}
    assert drawn <= found
    assert _with_those_that_follow(drawn) == _with_those_that_follow(found)


def _with_those_that_follow(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    while more := {(one, last) for one, middle in pairs for other, last in pairs if middle == other} - pairs:
        pairs = pairs | more
    return pairs


def test_where_to_look_names_what_is_there() -> None:
    rows = re.findall(
        r"^\| (.+?) \| (.*`.*) \|$", section("explanation/architecture.md", "Where to look"), re.MULTILINE
    )
    assert len(rows) >= 40
    named = [path for _, places in rows for path in re.findall(r"`([\w.-]+/[\w./-]*)`", places)]
    assert len(named) >= len(rows)
    assert not [path for path in named if not (ROOT / path).exists()]


def test_every_picture_is_used_and_has_an_alternative_text() -> None:
    used = set()
    for name, text in LIVE.items():
        for picture, options in re.findall(r"^```\{image\} (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            used.add(picture.rpartition("/")[2])
            alternative = re.search(r"^:alt: (.+)$", options, re.MULTILINE)
            assert alternative and len(alternative[1].split()) > 5, f"docs/{name}: {picture}"
    assert used == {path.name for path in (DOCS / "pictures").glob("*.svg")}


def test_troubleshooting_has_every_message_and_quotes_only_real_ones() -> None:
    """The list at its end is made from the code; a message that is explained by hand must still be one of the code."""
    of_code = {text.replace("`", "'") for texts in messages().values() for text in texts}
    assert len(of_code) > 300
    page = built("how-to/troubleshooting.md")
    for name, texts in messages().items():
        assert f"### {name}\n" in page
        assert page.count("\n* ") >= len(texts)
    quoted = re.findall(r"^`(.+)`\n: ", PAGES["how-to/troubleshooting.md"], re.MULTILINE)
    clauses = {"No page waits to be fetched"}
    assert len(quoted) > 20
    assert not [text for text in quoted if text not in of_code | clauses]


def test_no_error_is_raised_whose_message_the_list_lacks() -> None:
    """The list follows variables, constants and functions to the text. These texts are written by another program, or
    in an answer that the list has under another class."""
    assert untold() == {
        ("graphbrain/frontier/claims/resource_reports.py", "report.reason"),
        ("graphbrain/frontier/reports/report_intake.py", "report.reason"),
    }
    found = messages()
    assert "Give either --uri or --data, not both." in found["UsageError"]
    assert "the same page is reported twice in one batch" in found["BadInput"]


def test_a_mark_that_names_no_part_is_refused() -> None:
    with pytest.raises(KeyError):
        expanded("<!-- from the code: nothing -->")
    marks = {
        mark
        for text in LIVE.values()
        for mark in re.findall(r"^<!-- from the code: ([a-z-]+) -->$", text, re.MULTILINE)
    }
    assert marks == set(PARTS)


def test_each_stored_time_is_in_the_table_of_a_clock_that_was_ahead() -> None:
    text = Path("docs/reference/durability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (`[^|]*`) \| [^|]+ \|$", text, re.MULTILINE)
    listed = [(label, name) for label, names in rows for name in re.findall(r"`([\w.]+)`", names)]
    stored = [(label, name) for label, names in NODES.items() for name, (unit, _) in names.items() if unit == TIME]
    assert sorted(listed) == sorted(stored)
