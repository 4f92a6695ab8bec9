"""The files of the console's page: modules, a style and a frame, which hold nothing of a crawl."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["POLICY", "File", "files"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of the page: it may use its own files, and ask this service."""
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_FOLDER = Path(__file__).with_name("static")


@dataclass(frozen=True, slots=True)
class File:
    """A file of the console.

    Attributes:
        kind: Its Content-Type.
        content: Its bytes.
        tag: An ETag, which changes with the bytes.
    """

    kind: str
    content: bytes
    tag: str


@cache
def files() -> dict[str, File]:
    """Return all files by their names. The name of the page itself is empty."""
    by_name = {}
    for path in sorted(_FOLDER.iterdir()):
        if path.suffix in _TYPES:
            content = path.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            kind = f"{_TYPES[path.suffix]}; charset=utf-8"
            by_name["" if path.name == "index.html" else path.name] = File(kind, content, tag)
    return by_name
