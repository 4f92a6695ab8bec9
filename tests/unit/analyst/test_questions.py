"""Questions as files: complete, plain Cypher of Community, and with parameters of one kind each."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from itertools import dropwhile

import pytest

from graphbrain.analyst.questions import GROUPS, Asked, Param, question, questions
from graphbrain.base.errors import BadInput
from graphbrain.graph.statements import FOLDER
from tests.contract.source import bare_cypher


def test_each_says_what_it_is_and_how_to_read_it() -> None:
    for each in questions():
        assert re.fullmatch(r"[A-Z][^\n]{10,79}", each.title) and not each.title.endswith("."), each.name
        assert len(each.reading.split()) >= 12 and each.reading.endswith((".", ")")), each.name
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.name)
        assert bool(each.cypher) != bool(each.computed), each.name
        assert all(param.meaning for param in each.params), each.name
    assert {each.group for each in questions()} == set(GROUPS)


def test_no_comment_on_its_cypher_is_a_part_of_its_reading() -> None:
    for each in questions():
        lines = (FOLDER / "analyst" / f"{each.name}.cypher").read_text(encoding="utf-8").splitlines()
        after = dropwhile(lambda line: line.startswith("//"), lines)
        comments = [line.strip("/ ") for line in after if line.startswith("//")]
        assert not [comment for comment in comments if comment in each.reading], each.name


def test_each_uses_the_parameters_it_has_and_ends() -> None:
    for each in questions():
        text = bare_cypher(each.cypher)
        if each.cypher:
            assert set(re.findall(r"\$(\w+)", text)) == {param.name for param in each.params}, each.name
            assert not re.search(r"\b(apoc|gds)\.|\b(CREATE|MERGE|SET|DELETE|REMOVE|LOAD)\b", text), each.name
            assert ";" not in text, each.name
        bounded = {param.name for param in each.params} & {"limit", "days", "hours"}
        assert bounded or each.name in {
            "states",
            "first-links",
            "leases",
            "why-next",
            "how-found",
            "depth",
            "dead-end-shares",
            "indexability-shares",
        }, each.name


def test_in_browser_texts_are_set_first_and_numbers_stand_in_their_places() -> None:
    """A line that sets a parameter is run alone: Browser shows no answer to what is run together with it."""
    which, query = question("broken-links").steps()
    assert (
        which == ":param host => ''"
        and query.startswith("OPTIONAL MATCH (b:Brain {key: 'brain'})")
        and query.endswith("LIMIT 1000")
    )
    assert question("broken-links").steps({"limit": 3, "host": "o'neill\\x"})[0] == ":param host => 'o\\'neill\\\\x'"
    assert question("broken-links").steps({"limit": 3})[1].endswith("LIMIT 3")
    assert question("islands").steps() == ()
    for each in questions():
        *texts, query = each.steps() or ("",)
        assert set(re.findall(r"\$(\w+)", query)) == {text.split()[1] for text in texts}, each.name


@pytest.mark.parametrize(
    ("default", "given", "taken"),
    [
        (3, "4", 4),
        (3, 5, 5),
        (0.5, "0.25", 0.25),
        (0.5, 1, 1.0),
        ("", "http://a.example/?x=1", "http://a.example/?x=1"),
        (False, "yes", True),
        (True, "FALSE", False),
        (False, True, True),
    ],
)
def test_a_value_is_taken_as_of_the_defaults_kind(default: object, given: object, taken: object) -> None:
    assert Param("p", default, "a meaning").take(given) == taken  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("default", "given"), [(3, "x"), (3, 1.5), (3, True), (0.5, "x"), ("", 3), (False, "2"), (3, None)]
)
def test_a_value_of_another_kind_is_refused(default: object, given: object) -> None:
    with pytest.raises(BadInput, match="p must be"):
        Param("p", default, "a meaning").take(given)  # type: ignore[arg-type]


def test_a_day_is_told_as_days_and_days_before_it_are_left_out() -> None:
    day = datetime(2026, 11, 1, tzinfo=UTC)
    now = day.timestamp() + 2.5 * 86_400
    assert question("new-pages").since(day, now) == {"days": 2.5}
    assert question("failures-by-day").since(day, now) == {"days": 3}
    rows = [(date(2026, 11, 2), 1), (date(2026, 11, 1), 2), (date(2026, 10, 7), 3)]
    assert Asked(("day", "pages"), rows).since(day).rows == rows[:2]
    with pytest.raises(BadInput, match="future"):
        question("new-pages").since(day, day.timestamp() - 1)
    with pytest.raises(BadInput, match="has no parameter days"):
        question("states").since(day, now)
