"""Which room may know which: imports go one way, and only through what a room offers."""

from __future__ import annotations

import ast

from tests.contract import rooms
from tests.contract.source import imported, modules, outside, tree

# The architecture, from left to right: a room may import those before its own line. Rooms of one line do not know each
# other. A module at the top of the package is a room of its own.
ROOMS: tuple[tuple[str, ...], ...] = (
    ("errors", "records"),
    ("runtime", "numeric", "urls"),
    ("settings", "model", "work"),
    ("intake", "options", "terminal", "pagefacts", "relevance"),
    ("graph",),
    ("server", "schedule", "sections", "hosts", "ranking", "client", "feeds"),
    ("accounts",),
    ("frontier",),
    ("claims", "reports"),
    ("corrections",),
    ("inspect",),
    ("analyst",),
    ("brain",),
    ("ingest",),
    ("scrapy", "metrics", "spark"),
    ("console",),
    ("service", "crawl"),
    ("demo",),
    ("cli",),
    ("lab",),
)
PLACE = {room: number for number, line in enumerate(ROOMS) for room in line}
MOST_AT_THE_TOP = 10
# The top of the package: what users import by short names, and `python -m graphbrain`.
TOP = set(rooms.TOP)
TOUCHING = {"os", "time", "random", "socket", "threading", "pathlib", "neo4j", "logging"}
PURE = (
    "errors",
    "numeric.rules",
    "numeric.arrays",
    "intake.scope",
    "urls.normalization",
    "accounts.algebra",
    "accounts.classic_algebra",
    "ranking.algorithms",
    "claims.sampling",
    "sections.copies",
    "sections.harvest",
    "sections.known",
    "sections.shapes",
    "sections.site",
    "sections.tree",
)


def room(module: str) -> str:
    """Return the room of a module; short names for users, which import from anywhere, count as the first one."""
    first = module.partition(".")[0]
    return ROOMS[0][0] if first in TOP else first


def offered(name: str) -> set[str]:
    """What a room offers to others: `__all__` of its `__init__`."""
    for node in tree(name).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {f"{name}.{module}" for module in ast.literal_eval(node.value)}
    return set()


def test_every_room_is_in_the_line() -> None:
    assert {name.partition(".")[0] for name in modules()} - TOP == set(PLACE)


def test_few_modules_are_at_the_top() -> None:
    flat = {name for name, path in modules().items() if path.name != "__init__.py" and "." not in name}
    assert len(flat - {"__main__"}) <= MOST_AT_THE_TOP


def test_imports_go_left() -> None:
    wrong = {
        f"{name} imports {other}"
        for name in modules()
        for other in imported(name)
        if name not in TOP and other not in TOP and room(name) != room(other)
        if PLACE[room(other)] >= PLACE[room(name)]
    }
    assert not wrong


def test_what_a_room_does_not_offer_is_not_imported_from_outside() -> None:
    wrong = {
        f"{name} imports {other}"
        for name in modules()
        for other in imported(name)
        if room(other) not in {"demo", room(name)}
        and "." in other
        and name not in TOP
        and other not in offered(room(other)) | {room(other)}
    }
    assert not wrong


def test_a_room_offers_what_is_there_and_says_what_it_may_touch() -> None:
    packages = {name for name, path in modules().items() if path.name == "__init__.py" and "." not in name}
    for name in sorted(packages & PLACE.keys() - {"demo", "scrapy"}):
        here = {
            f"{name}.{alias.name}"
            for node in tree(name).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert offered(name) <= modules().keys() | here, name
        assert "May touch: " in (ast.get_docstring(tree(name)) or ""), name


def test_no_circles_within_a_room() -> None:
    """Imports inside functions count, too. The package itself imports what a user asks for, and is left out."""
    above: dict[str, set[str]] = {name: imported(name) - {name} - TOP for name in modules() if name not in TOP}
    while free := {name for name, others in above.items() if not others & above.keys()}:
        above = {name: others for name, others in above.items() if name not in free}
    assert not above


def test_the_figures_of_the_rooms() -> None:
    found = rooms.counts(ROOMS)
    assert found["upward imports"] == found["modules in circles"] == 0
    assert found["rooms"] == len(PLACE) and found["imports between rooms"] > found["rooms"]
    assert rooms.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == 2


def test_only_two_modules_know_the_driver() -> None:
    """graph.connection is the door; server.lifecycle asks a server it has just started whether it answers."""
    knowing = {name for name in modules() if "neo4j" in outside(name)}
    assert knowing == {"graph.connection", "server.lifecycle"}


def test_words_and_maths_touch_nothing() -> None:
    assert not {name for name in PURE if TOUCHING & outside(name)}
