"""How many rooms, layers, imports between rooms, upward imports and circles there are.

    python -m tests.contract.rooms    print them

`docs/explanation/architecture.md` shows the figures; `test_rooms.py` holds that nothing goes up or in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.contract.source import imported, modules

__all__ = ["circles", "counts"]

TOP = ("__init__", "__main__", "hints", "robots", "url")
"""The top of the package: what users import by short names, and `python -m graphbrain`."""


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


def counts(layers: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    """Return the figures, for rooms in these layers from left to right."""
    place = {room: number for number, line in enumerate(layers) for room in line}
    links = _links()
    between = {
        (name.partition(".")[0], other.partition(".")[0])
        for name, others in links.items()
        for other in others
        if name.partition(".")[0] != other.partition(".")[0]
    }
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

    for what, count in counts(ROOMS).items():
        print(f"{count:6,} {what}")
