"""The words of the code. CONTRIBUTING.md has the style, with examples."""

from __future__ import annotations

import ast
import re

import pytest

from tests.contract.language import (
    AVOIDED,
    FEW,
    MEASURED,
    OF_PEERS,
    OPENINGS,
    Prose,
    comments,
    docs,
    docstrings,
    headers,
    locals_named,
    messages,
    participles,
    per_thousand,
    room_of,
)
from tests.contract.source import ROOT, modules, tree

ROOMS = sorted({room_of(name) for name in modules()})
"""Rooms and the folders in them: their docstrings, comments, messages and headers keep the style."""

LEFT_LOCALS = frozenset(
    {
        "scores.accounts",
        "demo",
        "frontier",
        "analyst.inspect",
        "lab",
        "frontier.reports",
        "schedule",
        "schedule.sections",
    }
)
"""Rooms in which a local still has one of these words as its name. The set only shrinks."""
MOST_LOCALS = {"found": 43, "place": 28}
"""Word → how many locals have it as their name in all rooms. The numbers only fall."""

MOST_PARTICIPLES = 249
"""Names that are a participle or a particle. The number only falls: it was 2,583 before these names were changed."""

PLAIN_LINES = 8
"""Lines of a function or class beyond which its name and types cannot be all that there is to know."""


_NAMES = re.compile(r"`[^`]+`|\b[a-z]+/[a-z_]+\b")


def _dialect(texts: tuple[Prose, ...]) -> list[str]:
    """Return the words of the dialect; names between backticks, and those of statements, are none."""
    return [
        f"{each.module}:{each.line}: {match[0]!r} in {text[max(0, match.start() - 40) : match.end() + 40]!r}"
        for each in texts
        for text in (_NAMES.sub("``", each.text),)
        for word, pattern in AVOIDED.items()
        for match in pattern.finditer(text)
    ]


def _without_a_subject(texts: tuple[Prose, ...]) -> list[str]:
    return [f"{each.module}:{each.line}: {each.text[:80]}" for each in texts if OPENINGS.match(each.text)]


def _too_few(texts: tuple[Prose, ...]) -> list[str]:
    return [f"{each.module}:{each.line}: {each.text}" for each in texts if each.words <= FEW]


def _of_room(room: str, texts: tuple[Prose, ...]) -> tuple[Prose, ...]:
    return tuple(each for each in texts if room_of(each.module) == room)


def _faults_of(here: tuple[Prose, ...], others: tuple[Prose, ...]) -> list[str]:
    return [*_dialect((*here, *others)), *_without_a_subject(here), *_too_few(here)]


def _faults(room: str) -> list[str]:
    kinds = (docstrings(), comments(), messages(), headers())
    here, *others = (_of_room(room, texts) for texts in kinds)
    return _faults_of(here, tuple(each for texts in others for each in texts))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_keeps_the_style(room: str) -> None:
    faults = _faults(room)
    assert not faults, "\n".join(faults)


KINDS = {"docs": docs, "docstrings": docstrings, "comments": comments, "messages": messages, "headers": headers}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", OF_PEERS)
def test_prose_uses_these_words_no_more_often_than_scrapy(kind: str, words: str) -> None:
    """Names between backticks count here, too."""
    texts = KINDS[kind]()
    assert len(texts) > 60
    assert per_thousand(texts, MEASURED[words]) <= OF_PEERS[words]


REACHED = {
    ("docstrings", "told, tells, says"): 0.06,
    ("docstrings", "whoever, somebody, nobody"): 0.0,
    ("comments", "told, tells, says"): 0.0,
    ("comments", "whoever, somebody, nobody"): 0.0,
    ("headers", "told, tells, says"): 0.0,
    ("headers", "whoever, somebody, nobody"): 0.0,
}
"""(Kind, words) → occurrences in a thousand words of the whole tree. They only shrink."""
OPENINGS_LEFT = 0
"""Docstrings of the whole tree that begin with a question word. The number only shrinks."""


@pytest.mark.parametrize(("kind", "words"), REACHED)
def test_the_whole_tree_does_not_fall_back(kind: str, words: str) -> None:
    assert per_thousand(KINDS[kind](), MEASURED[words]) <= REACHED[kind, words]


def test_no_more_docstrings_begin_with_a_question_word() -> None:
    assert len(_without_a_subject(docstrings())) <= OPENINGS_LEFT


def test_the_pages_keep_the_style() -> None:
    """README.md and all of docs/ but its archive; parts that are made from the code are tested with the code."""
    pages = docs()
    assert len(pages) > 60
    faults = _dialect(pages)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(("word", "most"), MOST_LOCALS.items())
def test_locals_are_named_for_what_they_hold(word: str, most: int) -> None:
    """A room whose locals have better names stays so, and no other room has more of them than it had."""
    bound = locals_named(word)
    assert bound.keys() <= LEFT_LOCALS
    assert bound.total() <= most, f"name them for what they hold: {bound}"


def test_a_name_says_what_the_thing_is() -> None:
    """`known`, `left` and `made` say what happened to it; states and properties that are called so are counted, too."""
    names = participles()
    assert names.total() <= MOST_PARTICIPLES, f"name the thing: {names}"


def test_what_a_room_offers_has_a_docstring_or_is_short() -> None:
    """A private function needs none, nor does one that its name and its types describe. Users' names are tested in
    test_public_surface."""
    missing = [
        f"{name}.{node.name}"
        for name in sorted(modules())
        for node in tree(name).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if not ast.get_docstring(node) and (node.end_lineno or 0) - node.lineno >= PLAIN_LINES
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("It tells the brain.", "told"),
        ("Nobody knows.", "whoever"),
        ("as it stands", "stands"),
        ("The order goes by it.", "goes by"),
        ("Pages are handed out.", "handed out"),
        ("The host is left alone.", "left alone"),
        ("It was reckoned anew.", "reckoned"),
    ],
)
def test_the_search_for_words_finds_them(text: str, word: str) -> None:
    assert len(_dialect((Prose("here", 1, text),))) == 1
    assert AVOIDED[word].search(text)


def test_the_search_for_openings_and_lengths_finds_them() -> None:
    begun = (
        "Of all pages the best.",
        "Whose page",
        "Where it waits.",
        "Which pages fit.",
        "Whether it is held.",
        "Is it?",
    )
    assert len(_without_a_subject(tuple(Prose("here", line, text) for line, text in enumerate(begun)))) == len(begun)
    assert not _without_a_subject((Prose("here", 1, "Return the best page."), Prose("here", 2, "Often it is so.")))
    assert _too_few((Prose("here", 1, "The best page."), Prose("here", 2, "Return the page that ranks first."))) == [
        "here:1: The best page."
    ]


def test_one_comment_is_lines_that_follow_each_other() -> None:
    found = [each for each in comments() if each.module == "errors"]
    assert found == []
    assert len({(each.module, each.line) for each in comments()}) == len(comments())


def test_the_glossary_defines_each_term_once_in_the_order_of_the_alphabet() -> None:
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\*\*([^*]+)\.\*\* ", text, re.MULTILINE)
    assert len(terms) >= 50
    assert [term.lower() for term in terms] == sorted({term.lower() for term in terms})
    for other in re.findall(r"Compare \*([^*]+)\*", text):
        assert other.lower() in {term.lower() for term in terms}
