"""How many rooms, layers, imports between rooms, upward imports and circles there are.

    python -m tests.contract.rooms            print them
    python -m tests.contract.rooms --arrows   print each import of one room by another, with the modules imported

`docs/explanation/architecture.md` shows the figures; `test_rooms.py` holds that nothing goes up or in a circle.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from tests.contract.source import imported, modules

__all__ = ["SHORT_NAMES", "TOP", "arrows", "circles", "counts", "folder", "folders", "second_level"]

SHORT_NAMES = (
    *("client", "errors", "hints", "metrics", "metrics.meter", "metrics.serving", "model", "pagefacts", "relevance"),
    *("robots", "scrapy", "server", "url", "work"),
)
"""Modules at the top of the package by which users import what a room has. They have no code."""
TOP = ("__init__", "__main__", *SHORT_NAMES)
"""The top of the package: the short names, and `python -m graphbrain`."""


def folder(module: str) -> str:
    """Return the folder of a module: `frontier.hosts` of `frontier.hosts.state`, `frontier` of `frontier.policy`.

    The laboratory is one.
    """
    if module.startswith("lab."):
        return "lab"
    is_one = module in modules() and modules()[module].name == "__init__.py"
    return module if is_one else module.rpartition(".")[0] or module


def folders(module: str) -> list[str]:
    """Return the folders above a module, from the room down."""
    parts = module.split(".")
    return [".".join(parts[:cut]) for cut in range(1, len(parts))]


def second_level(links: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return the imports between the folders and modules of which the rooms consist."""
    found: dict[str, set[str]] = {}
    for name, others in links.items():
        here = _second(name)
        found.setdefault(here, set()).update(_second(other) for other in others)
        found[here].discard(here)
    return found


def _second(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _links() -> dict[str, set[str]]:
    """Return module → the modules that it imports, also inside functions."""
    return {name: imported(name) - {name, *TOP} for name in modules() if name not in TOP}


def circles(links: Mapping[str, set[str]]) -> int:
    """Return the number of nodes that are in a circle, or that lead to one and are led to by one."""
    left = {name: set(others) for name, others in links.items()}
    while True:
        led_to = set().union(*left.values()) if left else set()
        free = {name for name, others in left.items() if not others & left.keys() or name not in led_to}
        if not free:
            return len(left)
        left = {name: others - free for name, others in left.items() if name not in free}


def arrows() -> dict[tuple[str, str], set[str]]:
    """Return (room, room that it imports) → the modules of the latter that it imports."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, others in _links().items():
        for other in others:
            pair = name.partition(".")[0], other.partition(".")[0]
            if pair[0] != pair[1]:
                found.setdefault(pair, set()).add(other)
    return found


def counts(layers: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    """Return the figures, for rooms in these layers from left to right."""
    place = {room: number for number, line in enumerate(layers) for room in line}
    links = _links()
    between = arrows()
    return {
        "modules": len(links),
        "rooms": len(place),
        "layers": len(layers),
        "imports between rooms": len(between),
        "upward imports": sum(place[other] >= place[one] for one, other in between),
        "modules in circles": circles(links),
    }


if __name__ == "__main__":
    from tests.contract.test_rooms import ROOMS

    if "--arrows" in sys.argv:
        for (one, other), names in sorted(arrows().items()):
            print(f"{one} → {other}: {', '.join(sorted(names))}")
    else:
        for what, count in counts(ROOMS).items():
            print(f"{count:6,} {what}")
