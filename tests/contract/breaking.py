"""What a release would break for programs that import graphbrain: griffe, against the last tag.

    python -m tests.contract.breaking             against the last tag of this history
    python -m tests.contract.breaking REVISION    against another revision

Only the names of `public_surface.MODULES` count. It exits with 1 when a name, an argument or a default is gone or has
changed; name each in CHANGELOG.md, under "Removed" or "Changed". Without a tag there is no release to compare with.
Needs griffe (`pip install griffelib`), which is in no extra: only a release needs it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from tests.contract.public_surface import MODULES
from tests.contract.source import ROOT

__all__ = ["is_public", "last_tag"]


def last_tag() -> str | None:
    """Return the last tag of a version, and None where there is none."""
    called = ["git", "describe", "--tags", "--abbrev=0", "--match", "v*"]
    found = subprocess.run(called, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def is_public(path: str, where: dict[str, str]) -> bool:
    """Return whether a dotted path is a public name, or a part of one.

    Args:
        path: As griffe has it, where the object is defined.
        where: The dotted path of each public name where it is defined → where users import it.
    """
    parts = path.split("(")[0].split(".")
    if any(part.startswith("_") for part in parts):
        return False
    return any(".".join(parts[:cut]) in where for cut in range(len(parts), 1, -1))


def defined() -> dict[str, str]:
    """Return where each public name is defined → where users import it."""
    import importlib

    found = {}
    for module, names in MODULES.items():
        here = importlib.import_module(module)
        for name in names:
            thing = getattr(here, name)
            home = f"{getattr(thing, '__module__', module)}.{getattr(thing, '__qualname__', name)}"
            found[home] = found[f"{module}.{name}"] = f"{module}.{name}"
    return found


def breakages(revision: str) -> list[str]:
    """Return a line for each change since the revision that breaks a user of a public name."""
    import griffe

    before = griffe.load_git("graphbrain", ref=revision, repo=ROOT, resolve_aliases=False)
    now = griffe.load("graphbrain", search_paths=[ROOT], resolve_aliases=False)
    where = defined()
    return [
        each.explain(griffe.ExplanationStyle.ONE_LINE)
        for each in griffe.find_breaking_changes(before, now)
        if is_public(each.obj.path, where)
    ]


def main() -> int:
    """Print what is broken since a revision, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("revision", nargs="?", help="the revision to compare with (the last tag)")
    revision = parser.parse_args().revision or last_tag()
    if revision is None:
        print("No tag of a version yet: nothing is released that could be broken.", file=sys.stderr)
        return 0
    found = breakages(revision)
    sys.stdout.writelines(f"{line}\n" for line in found)
    print(f"{len(found)} breaking changes of public names since {revision}.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
