"""Names of files for URLs: below one folder whatever the URL is, and apart on file systems of every kind.

A name has no part that leads elsewhere (`..`, an absolute path, a device of Windows), no character that a system
forbids, at most `MOST` bytes in a part, and differs from all others also without regard to case.
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
"""Bytes of a part of a name."""
MOST_OF_PATH = 800
"""Bytes of all parts of a name, with a slash for each."""
_MARK = 9
"""Bytes of a hyphen and of the letters by which two names differ."""
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\ud800-\udfff]')
_DEVICE = re.compile(r"(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)", re.IGNORECASE)
ENDINGS = {
    "text/html": (".html", ".htm"), "application/xhtml+xml": (".html", ".htm", ".xhtml"), "text/css": (".css",),
    "image/svg+xml": (".svg",), "image/jpeg": (".jpg", ".jpeg", ".jpe"), "application/xml": (".xml", ".rss", ".atom"),
    "text/xml": (".xml", ".rss", ".atom"), "font/woff2": (".woff2",), "font/woff": (".woff",), "image/webp": (".webp",),
    "image/avif": (".avif",), "application/json": (".json", ".map"), "text/javascript": (".js", ".mjs"),
    "application/javascript": (".js", ".mjs"), "text/plain": None, "application/octet-stream": None, "": None,
}  # fmt: skip
"""The endings of the names of types, of which the first is added where the name has none of them. None: any."""


def cleaned(text: str) -> str:
    """Return a part of a name, in at most `MOST` bytes, from any text."""
    text = "".join("_" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    text = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", text)).strip(" ").rstrip(". ")
    if not text or _DEVICE.match(text) or text.startswith("~"):
        text = f"_{text}"
    return _shortened(text, MOST)


def _shortened(text: str, most: int) -> str:
    """Return a text of at most so many bytes; one that is cut has its digest at the end of its stem."""
    if len(text.encode()) <= most:
        return text
    stem, dot, ending = text.rpartition(".")
    if not stem or len(ending.encode()) > 10:
        stem, dot, ending = text, "", ""
    return _marked(stem, text, most - len((dot + ending).encode())) + dot + ending


def _marked(stem: str, of: str, most: int = MOST) -> str:
    """Return a stem with a mark of a text behind it, in at most so many bytes."""
    kept = stem.encode()[: most - _MARK].decode("utf-8", "ignore").rstrip(". ")
    return f"{kept}-{hashlib.sha256(of.encode('utf-8', 'replace')).hexdigest()[: _MARK - 1]}"


class FileNames:
    """The names that were given, in tables of a database."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        self._sql = sql
        sql.execute("CREATE TABLE name (folded TEXT PRIMARY KEY, name TEXT, is_folder INTEGER)")
        sql.execute("CREATE TABLE file (url TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")

    def reserve(self, name: str) -> None:
        """Give a name to no URL."""
        self._sql.execute("INSERT INTO name VALUES (?, ?, 0)", (_folded(name), name))

    def of(self, url: str) -> str | None:
        """Return the name of a URL, relative, with slashes; None if it has none."""
        row = self._sql.execute("SELECT name FROM file WHERE url = ?", (url,)).fetchone()
        return None if row is None else str(row[0])

    def share(self, url: str, name: str) -> None:
        """Let another URL have a name that was given."""
        self._sql.execute("INSERT OR IGNORE INTO file VALUES (?, ?)", (url, name))

    def give(self, url: str, kind: str) -> str:
        """Return a new name for a URL whose content has this media type."""
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
        """Return a folder's name as it is written already, or this name, or one with a mark if it is another's."""
        parent, _, last = name.rpartition("/")
        stem, dot, ending = last.rpartition(".")
        stem, ending = (stem, dot + ending) if stem and not is_folder else (last, "")
        tried, times = name, 0
        while True:
            row = self._sql.execute("SELECT name, is_folder FROM name WHERE folded = ?", (_folded(tried),)).fetchone()
            if row is None:
                self._sql.execute("INSERT INTO name VALUES (?, ?, ?)", (_folded(tried), tried, is_folder))
                return tried
            if is_folder and row[1]:
                return str(row[0])
            of = f"{name}/{times}" if is_folder else f"{url} {times}"
            tried = f"{parent}{'/' if parent else ''}{_marked(stem, of, MOST - len(ending.encode()))}{ending}"
            times += 1


def _folded(name: str) -> str:
    """Return a name as file systems compare it that know no case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFD", name).casefold())


def _parts(url: str, kind: str) -> list[str]:
    """Return the parts of a name: host, folders and file."""
    parts = urlsplit(url)
    *folders, last = parts.path.split("/")[1:] or [""]
    last = unquote(last, errors="replace") or "index"
    usual = ENDINGS.get(kind, (mimetypes.guess_extension(kind) or "",))
    stem, dot, ending = last.rpartition(".")
    if not stem or len(ending) > 10:
        stem, dot, ending = last, "", ""
    if parts.query:
        stem = f"{stem}@{unquote(parts.query, errors='replace')}"
    last = stem + dot + ending
    if usual is not None and (dot + ending).lower() not in usual:
        last += usual[0]
    names = [parts.netloc.rpartition("@")[2].replace(":", "_"), *(unquote(one, errors="replace") for one in folders)]
    return [cleaned(name) for name in (*(name for name in names if name), last)]
