"""A part of the table of hosts: which rows fit, and in which order they come."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as some

from graphbrain.service.console.hosts import COLUMNS, Asked, Mood, Row, part

NOW = 1_000.0
NUMBERS = some.one_of(some.none(), some.floats(0, 2_000, allow_nan=False))


def row(name: str, **facts: Any) -> Row:
    plain = {"frontier": 0, "failing": 0, "blocked_until": None, "pace": None, "probe_at": None, "in_scope": True}
    return [({"name": name} | plain | facts).get(column) for column in COLUMNS]


def names(rows: list[Row]) -> list[str]:
    return [each[0] for each in rows]


@pytest.mark.parametrize(
    ("which", "facts"),
    [
        ("waiting", {"frontier": 1}),
        ("failing", {"failing": 1}),
        ("blocked", {"blocked_until": NOW + 1}),
        ("slowed", {"pace": 0.5}),
        ("silent", {"probe_at": 5.0}),
        ("outside", {"in_scope": False}),
    ],
)
def test_each_mood_has_its_hosts(which: Any, facts: dict[str, Any]) -> None:
    rows = [row("other.org", blocked_until=NOW - 1, pace=1.0), row("one.org", **facts)]
    assert names(part(rows, Asked(which=which), NOW)[0]) == ["one.org"]


@given(some.lists(some.tuples(some.text("ab.", min_size=1), NUMBERS), max_size=12), some.data())
def test_parts_are_the_whole_in_order(hosts: list[tuple[str, float | None]], data: some.DataObject) -> None:
    rows = [row(name, delay=delay) for name, delay in hosts]
    down, size = data.draw(some.booleans()), data.draw(some.integers(1, 5))
    text, which = data.draw(some.sampled_from(["", "A", "b."])), data.draw(some.sampled_from(get_args(Mood)))
    found: list[Row] = []
    wanted = {"text": text, "which": which, "by": "delay", "down": down, "limit": size}
    while len(found) < (of := part(rows, Asked(**wanted, offset=len(found)), NOW))[1]:
        assert 0 < len(of[0]) <= size
        found += of[0]
    place = COLUMNS.index("delay")
    delays = [each[place] for each in found]
    known = [delay for delay in delays if delay is not None]
    assert delays[: len(known)] == sorted(known, reverse=down)
    for one, other in pairwise(found):
        assert one[place] != other[place] or one[0] <= other[0]
    if which == "all":
        assert len(found) == sum(text.lower() in name for name, _ in hosts)
