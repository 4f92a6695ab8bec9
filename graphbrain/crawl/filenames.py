"""Safe names of files for URLs.

A name has no part that leads out of its folder (`..`, an absolute path, a device of Windows), no character that an
operating system forbids, and at most `MOST` bytes in a part. Two names differ also on file systems that ignore case.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
import sqlite3
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

__all__ = ["MOST", "MOST_OF_PATH", "FileNames", "cleaned"]

MOST = 200
"""Most bytes of a part of a name."""
MOST_OF_PATH = 800
"""Most bytes of all parts of a name, with a slash for each."""
_MARK = 9
"""Bytes of a mark: a hyphen and hexadecimal digits, which distinguish names."""
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\ud800-\udfff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)", re.IGNORECASE)
ENDINGS = {
    "text/html": (".html", ".htm"), "application/xhtml+xml": (".html", ".htm", ".xhtml"), "text/css": (".css",),
    "image/svg+xml": (".svg",), "image/jpeg": (".jpg", ".jpeg", ".jpe"), "application/xml": (".xml", ".rss", ".atom"),
    "text/xml": (".xml", ".rss", ".atom"), "font/woff2": (".woff2",), "font/woff": (".woff",), "image/webp": (".webp",),
    "image/avif": (".avif",), "application/json": (".json", ".map"), "text/javascript": (".js", ".mjs"),
    "application/javascript": (".js", ".mjs"), "text/plain": None, "application/octet-stream": None, "": None,
}  # fmt: skip
"""Media type → the endings of its names. The first one is added to a name without any of them. None: no ending is
added."""


def cleaned(text: str) -> str:
    """Return a safe part of a name for any text, in at most `MOST` bytes."""
    text = "".join("_" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    text = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", text)).strip(" ").rstrip(". ")
    if not text or _DEVICE.match(text) or text.startswith("~"):
        text = f"_{text}"
    return _shortened(text, MOST)


def _shortened(text: str, most: int) -> str:
    """Return a text, cut to `most` bytes if it is longer. A text that was cut has a mark before its ending, as
    `_marked` adds."""
    if len(text.encode()) <= most:
        return text
    stem, dot, ending = text.rpartition(".")
    if not stem or len(ending.encode()) > 10:
        stem, dot, ending = text, "", ""
    return _marked(stem, text, most - len((dot + ending).encode())) + dot + ending


def _marked(stem: str, of: str, most: int = MOST) -> str:
    """Return a stem, cut if it is too long, with a mark: a digest of the text `of`. `most`: its limit in bytes."""
    kept = stem.encode()[: most - _MARK].decode("utf-8", "ignore").rstrip(". ")
    return f"{kept}-{hashlib.sha256(of.encode('utf-8', 'replace')).hexdigest()[: _MARK - 1]}"


class FileNames:
    """The names of the files of URLs, in tables of SQLite."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        self._sql = sql
        sql.execute("CREATE TABLE name (folded TEXT PRIMARY KEY, name TEXT, is_folder INTEGER)")
        sql.execute("CREATE TABLE file (url TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")

    def reserve(self, name: str) -> None:
        """Keep a name from being given to a URL."""
        self._sql.execute("INSERT INTO name VALUES (?, ?, 0)", (_folded(name), name))

    def of(self, url: str) -> str | None:
        """Return the name of a URL, as a relative path with slashes; None if it has none."""
        row = self._sql.execute("SELECT name FROM file WHERE url = ?", (url,)).fetchone()
        return None if row is None else str(row[0])

    def share(self, url: str, name: str) -> None:
        """Let another URL have a name that is in use."""
        self._sql.execute("INSERT OR IGNORE INTO file VALUES (?, ?)", (url, name))

    def give(self, url: str, kind: str) -> str:
        """Choose a name for a URL, and return it. `kind`: the media type of its content."""
        *folders, last = _parts(url, kind)
        if sum(len(part.encode()) + 1 for part in (*folders, last)) > MOST_OF_PATH:
            folders, last = folders[:1], _shortened(f"{_marked('', url)}{PurePosixPath(last).suffix}", MOST)
        parent = ""
        for folder in folders:
            parent = self._free_name(f"{parent}{folder}", url, is_folder=True) + "/"
        name = self._free_name(f"{parent}{last}", url, is_folder=False)
        self._sql.execute("INSERT INTO file VALUES (?, ?)", (url, name))
        return name

    def _free_name(self, name: str, url: str, *, is_folder: bool) -> str:
        """Return a name that is free, with a mark if it is not free without one. An existing folder keeps its name."""
        parent, _, last = name.rpartition("/")
        stem, dot, ending = last.rpartition(".")
        stem, ending = (stem, dot + ending) if stem and not is_folder else (last, "")
        candidate, attempt = name, 0
        while True:
            # Take the name if no other one equals it without regard to case, or the folder that has it.
            row = self._sql.execute(
                "SELECT name, is_folder FROM name WHERE folded = ?", (_folded(candidate),)
            ).fetchone()
            if row is None:
                self._sql.execute("INSERT INTO name VALUES (?, ?, ?)", (_folded(candidate), candidate, is_folder))
                return candidate
            existing, existing_is_folder = row
            if is_folder and existing_is_folder:
                return str(existing)
            # Else try it with another mark.
            of = f"{name}/{attempt}" if is_folder else f"{url} {attempt}"
            candidate = f"{parent}{'/' if parent else ''}{_marked(stem, of, MOST - len(ending.encode()))}{ending}"
            attempt += 1


def _folded(name: str) -> str:
    """Return the form of a name by which file systems that ignore case compare it."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFD", name).casefold())


def _parts(url: str, kind: str) -> list[str]:
    """Return the parts of a name for a URL: host, folders and file."""
    parts = urlsplit(url)
    *folders, last = parts.path.split("/")[1:] or [""]
    last = unquote(last, errors="replace") or "index"
    # Put the query before the ending.
    stem, dot, ending = last.rpartition(".")
    if not stem or len(ending) > 10:
        stem, dot, ending = last, "", ""
    if parts.query:
        stem = f"{stem}@{unquote(parts.query, errors='replace')}"
    last = stem + dot + ending
    # Add the ending of the media type.
    usual_endings = ENDINGS.get(kind, (mimetypes.guess_extension(kind) or "",))
    if usual_endings is not None and (dot + ending).lower() not in usual_endings:
        last += usual_endings[0]
    names = [parts.netloc.rpartition("@")[2].replace(":", "_"), *(unquote(one, errors="replace") for one in folders)]
    return [cleaned(name) for name in (*(name for name in names if name), last)]
