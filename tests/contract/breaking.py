"""The breaking changes of a release for programs that import graphbrain: griffe, against the last tag.

    python -m tests.contract.breaking             against the last tag of this history
    python -m tests.contract.breaking REVISION    against another revision

Two parts are compared. griffe compares the arguments, defaults and members of the public names and of the classes that
these inherit from. `public_surface.txt` of the revision is compared with the surface of now: names, commands, options,
settings, paths, metrics and the like that are gone. It exits with 1 when something is gone or has changed; name each in
CHANGELOG.md, under "Removed" or "Changed". Without a tag there is no release to compare with.
Needs griffe (`pip install griffelib`), which is in no extra: only a release needs it.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Collection, Iterator

from tests.contract.public_surface import MODULES, RECORDED, surface
from tests.contract.source import ROOT

__all__ = ["gone", "homes", "is_public", "last_tag"]

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_BY_GRIFFE = ("argument ", "field ")
"""Kinds of lines of the surface that griffe compares, with defaults and types besides."""


def _git(*arguments: str) -> str | None:
    """Return the output of git, and None where it fails."""
    ended = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.stdout if ended.returncode == 0 else None


def last_tag() -> str | None:
    """Return the last tag of a version, and None where there is none."""
    tag = _git("describe", "--tags", "--abbrev=0", "--match", "v*")
    return None if tag is None else tag.strip()


def homes() -> set[str]:
    """Return the dotted paths of all public names: where users import them, where they are defined, and where classes
    are defined from which a public class inherits."""
    paths = set()
    for module, names in MODULES.items():
        here = importlib.import_module(module)
        for name in names:
            what = getattr(here, name)
            paths |= {f"{module}.{name}", *_defined(what, module, name)}
    return paths


def _defined(what: object, module: str, name: str) -> Iterator[str]:
    if not inspect.isclass(what):
        yield f"{getattr(what, '__module__', module)}.{getattr(what, '__qualname__', name)}"
        return
    yield from (f"{kind.__module__}.{kind.__qualname__}" for kind in what.__mro__ if kind.__module__ != "builtins")


def is_public(path: str, public: Collection[str]) -> bool:
    """Return whether a dotted path is a public name, or a member of one that is not private.

    Args:
        path: As griffe has it, where the object is defined.
        public: The paths of `homes`.
    """
    parts = path.split("(")[0].split(".")
    owners = (cut for cut in range(len(parts), 1, -1) if ".".join(parts[:cut]) in public)
    return any(not any(part.startswith("_") for part in parts[cut:]) for cut in owners)


def gone(before: Collection[str], now: Collection[str]) -> list[str]:
    """Return the lines of an older surface that the present one lacks, without those that griffe compares."""
    return [f"{line}: gone" for line in sorted(set(before) - set(now)) if not line.startswith(_BY_GRIFFE)]


def breakages(revision: str) -> list[str]:
    """Return a line for each change since the revision that breaks a user of a public name."""
    import griffe

    before = griffe.load_git("graphbrain", ref=revision, repo=ROOT, resolve_aliases=False)
    now = griffe.load("graphbrain", search_paths=[ROOT], resolve_aliases=False)
    public = homes()
    changed = [
        _COLOURS.sub("", each.explain(griffe.ExplanationStyle.ONE_LINE))
        for each in griffe.find_breaking_changes(before, now)
        if is_public(each.obj.path, public)
    ]
    recorded = _git("show", f"{revision}:{RECORDED.relative_to(ROOT).as_posix()}")
    if recorded is None:
        print(f"{revision} has no {RECORDED.name}: names that are gone since then are not listed.", file=sys.stderr)
    return [*changed, *gone((recorded or "").splitlines(), surface())]


def main() -> int:
    """Print what is broken since a revision, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("revision", nargs="?", help="the revision to compare with (the last tag)")
    revision = parser.parse_args().revision or last_tag()
    if revision is None:
        print("No tag of a version yet: nothing is released that could be broken.", file=sys.stderr)
        return 0
    lines = breakages(revision)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    print(
        f"{len(lines)} breaking change{'s' * (len(lines) != 1)} of the public surface since {revision}.",
        file=sys.stderr,
    )
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
