"""The versions of the packages in the image: `python -m tests.constraints` writes docker/constraints.txt from those
that are installed here."""

from __future__ import annotations

import tomllib
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILE = Path(__file__).resolve().parents[1] / "docker" / "constraints.txt"
ITSELF = "graphbrain-crawler"
EXTRAS = frozenset({"metrics", "serve"})
"""What the image has of graphbrain."""
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix"}


def needed() -> dict[str, str]:
    """Name → version of all that graphbrain needs in the image, and what that needs."""
    found: dict[str, str] = {}
    left: list[tuple[str, frozenset[str]]] = [(ITSELF, EXTRAS)]
    done: set[tuple[str, frozenset[str]]] = set()
    while left:
        name, extras = left.pop()
        if (name, extras) in done:
            continue
        done.add((name, extras))
        if name != ITSELF:
            found[name] = version(name)
        for text in _own(extras) if name == ITSELF else requires(name) or ():
            wanted = Requirement(text)
            here = [{**LINUX, "extra": extra} for extra in ("", *sorted(extras))]
            if wanted.marker is None or any(wanted.marker.evaluate(facts) for facts in here):
                left.append((canonicalize_name(wanted.name), frozenset(wanted.extras)))
    return found


def _own(extras: frozenset[str]) -> list[str]:
    """What graphbrain itself needs: it need not be installed."""
    project = tomllib.loads((FILE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(each for extra in extras for each in project["optional-dependencies"][extra])]


def text() -> str:
    """The file."""
    lines = [f"{name}=={found}" for name, found in sorted(needed().items())]
    return "\n".join(["# Written by 'python -m tests.constraints'.", *lines, ""])


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
