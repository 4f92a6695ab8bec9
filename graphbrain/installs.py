"""How to install what is missing, wherever the user is: by the names of the packages, into this very Python."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata

__all__ = ["command"]

PROJECT = "graphbrain-crawler"


def command(extra: str, *packages: str) -> str:
    """The command that installs what an extra of graphbrain needs: `packages`, where its metadata do not say.

    Not by the extra's name: whoever has installed a checkout or a file is somewhere else by now, and a package index
    may have no graphbrain, or another one.
    """
    try:
        required = metadata.requires(PROJECT) or []
    except metadata.PackageNotFoundError:
        required = []
    marked = re.compile(rf"""^([^;]+?)\s*;\s*extra\s*==\s*['"]{re.escape(extra)}['"]\s*$""")
    wanted = [found[1].replace(" ", "") for line in required if (found := marked.match(line))]
    return f"{shlex.quote(sys.executable or 'python')} -m pip install {shlex.join(wanted or packages)}"
