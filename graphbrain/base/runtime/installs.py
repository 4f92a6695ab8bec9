"""The installation of missing packages into the running Python, by the names of the packages."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata

__all__ = ["command"]

PROJECT = "graphbrain-crawler"


def command(extra: str, *packages: str) -> str:
    """Return the command that installs the packages of an extra: those of the metadata, or else `packages`.

    The command does not use the extra's name. A user who has installed a checkout or a file is in another directory by
    now, and a package index may have no graphbrain, or another project of that name.
    """
    try:
        required = metadata.requires(PROJECT) or []
    except metadata.PackageNotFoundError:
        required = []
    marked = re.compile(rf"""^([^;]+?)\s*;\s*extra\s*==\s*['"]{re.escape(extra)}['"]\s*$""")
    wanted = [match[1].replace(" ", "") for line in required if (match := marked.match(line))]
    return f"{shlex.quote(sys.executable or 'python')} -m pip install {shlex.join(wanted or packages)}"
