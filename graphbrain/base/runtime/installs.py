"""The command that installs missing packages into the running Python."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata

__all__ = ["command"]

PROJECT = "graphbrain-crawler"


def command(extra: str, *packages: str) -> str:
    """Return the command that installs the packages of an extra: those of the metadata, or else `packages`.

    The command names the packages and not the extra. A package index may have no graphbrain, or another project of that
    name, and the user may have installed a checkout or a file from another directory.
    """
    try:
        required = metadata.requires(PROJECT) or []
    except metadata.PackageNotFoundError:
        required = []
    of_extra = re.compile(rf"""^([^;]+?)\s*;\s*extra\s*==\s*['"]{re.escape(extra)}['"]\s*$""")
    names = [match[1].replace(" ", "") for line in required if (match := of_extra.match(line))]
    return f"{shlex.quote(sys.executable or 'python')} -m pip install {shlex.join(names or packages)}"
