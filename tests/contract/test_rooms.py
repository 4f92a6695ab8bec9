"""Which room may know which: imports go one way, and only through what a room offers."""

from __future__ import annotations

import ast

from tests.contract import rooms
from tests.contract.rooms import folders
from tests.contract.source import imported, modules, outside, tree

# The architecture, from left to right: a room may import those before its own line. Rooms of one line do not know each
# other. The laboratory, a package of its own, may import all.
ROOMS: tuple[tuple[str, ...], ...] = (
    ("base",),
    ("terminal", "content", "graph"),
    ("schedule",),
    ("scores",),
    ("frontier",),
    ("analyst",),
    ("brain",),
    ("files", "crawl", "service", "demo"),
    ("cli",),
    ("lab",),
)
PLACE = {room: number for number, line in enumerate(ROOMS) for room in line}
MOST_ROOMS, MOST_LAYERS = 16, 11
# The top of the package: what users import by short names, and `python -m graphbrain`.
TOP = set(rooms.TOP)
TOUCHING = {"os", "time", "random", "socket", "threading", "pathlib", "neo4j", "logging"}
PURE = (
    "base.errors",
    "base.numeric.rules",
    "base.numeric.arrays",
    "base.urls.normalization",
    "content.scope",
    "frontier.claims.sampling",
    "schedule.sections.copies",
    "schedule.sections.harvest",
    "schedule.sections.known",
    "schedule.sections.shapes",
    "schedule.sections.site",
    "schedule.sections.tree",
    "scores.accounts.algebra",
    "scores.accounts.classic_algebra",
    "scores.ranking.algorithms",
)


def room(module: str) -> str:
    """Return the room of a module; short names for users, which import from anywhere, count as the first one."""
    first = module.partition(".")[0]
    return ROOMS[0][0] if first in TOP else first


def offered(name: str) -> set[str]:
    """What a folder offers to others: `__all__` of its `__init__`."""
    for node in tree(name).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return {f"{name}.{module}" for module in ast.literal_eval(node.value)}
    return set()


def packages() -> list[str]:
    """The rooms and the folders in them; the laboratory, without its folders."""
    here = [name for name, path in modules().items() if path.name == "__init__.py" and name not in TOP]
    return [name for name in here if not name.startswith("lab.")]


def test_every_room_is_in_the_line() -> None:
    assert {name.partition(".")[0] for name in modules()} - TOP == set(PLACE)


def test_there_are_few_rooms_and_few_layers() -> None:
    assert len(PLACE.keys() - {"lab"}) <= MOST_ROOMS
    assert len(ROOMS[:-1]) <= MOST_LAYERS


def test_the_top_has_short_names_alone_which_have_no_code() -> None:
    assert {name for name in modules() if name.partition(".")[0] not in PLACE} == TOP
    for name in rooms.SHORT_NAMES:
        described, *lines = tree(name).body
        assert isinstance(described, ast.Expr) and ast.get_docstring(tree(name)), name
        assert all(isinstance(line, ast.ImportFrom) for line in lines[:-1]), name
        assert not lines or ast.unparse(lines[-1]).startswith("__all__ = ["), name


def test_short_names_are_for_users() -> None:
    """The crawler to copy is a user; and the package has `graphbrain.errors` at once."""
    using = {name for name in modules() if imported(name) & set(rooms.SHORT_NAMES)}
    assert using == {"__init__", "demo.crawler"}


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
    """Nor what a folder in a room does not offer, from outside of that folder."""
    wrong = {
        f"{name} imports {other}, which {folder} does not offer"
        for name in modules()
        for other in imported(name)
        if name not in TOP
        for folder in folders(other)
        if room(folder) != "lab"
        if not f"{name}.".startswith(f"{folder}.")
        and not any(f"{other}.".startswith(f"{each}.") for each in offered(folder))
    }
    assert not wrong


def test_a_room_offers_what_is_there_and_says_what_it_may_touch() -> None:
    for name in packages():
        here = {
            f"{name}.{alias.name}"
            for node in tree(name).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert offered(name) <= modules().keys() | here, name
        first, *rest = (ast.get_docstring(tree(name)) or "").split("\n\n")
        assert "May touch: " in "\n\n".join(rest), name
        assert first.endswith(".") and "\n" not in first, f"{name}: one sentence, in one line, comes first"


def test_no_circles_within_a_room() -> None:
    """Imports inside functions count, too. The package itself imports what a user asks for, and is left out."""
    above: dict[str, set[str]] = {name: imported(name) - {name} - TOP for name in modules() if name not in TOP}
    while free := {name for name, others in above.items() if not others & above.keys()}:
        above = {name: others for name, others in above.items() if name not in free}
    assert not above


def test_no_circles_between_the_folders_and_modules_of_a_room() -> None:
    """A folder of a room and the modules beside it do not import each other both ways."""
    links = {name: imported(name) - TOP for name in modules() if name not in TOP}
    assert rooms.circles(rooms.second_level(links)) == 0
    assert rooms.second_level({"a.b.c": {"a.d", "a.b.e"}, "a.d": {"a.b.f"}}) == {"a.b": {"a.d"}, "a.d": {"a.b"}}


def test_the_figures_of_the_rooms() -> None:
    found = rooms.counts(ROOMS)
    assert found["upward imports"] == found["modules in circles"] == 0
    assert found["rooms"] == len(PLACE) and found["imports between rooms"] > found["rooms"]
    assert rooms.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == 2


def test_only_two_modules_know_the_driver() -> None:
    """graph.connection is the door; graph.server.lifecycle asks a server it has just started whether it answers."""
    knowing = {name for name in modules() if "neo4j" in outside(name)}
    assert knowing == {"graph.connection", "graph.server.lifecycle"}


def test_words_and_maths_touch_nothing() -> None:
    assert not {name for name in PURE if TOUCHING & outside(name)}
