"""The lines of files of recorded crawls (numbers, comments, URLs), and the recognition of a file's format.

All functions are pure functions of bytes. A link is a line of two whole numbers, or of three with a count. There '#'
begins a comment. In other formats a comment is a whole line, because a URL can contain '#'.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "BOM",
    "NO_LINE",
    "WIDTHS",
    "RecordedPage",
    "entry",
    "filled",
    "ids_of",
    "is_header",
    "is_id",
    "kind_of",
    "table",
]

BOM = b"\xef\xbb\xbf"
"""The byte order mark, which some programs write before the first line of UTF-8."""
NO_LINE = "not a line of this file's kind"
WIDTHS = {"edges": (2, 3), "hollins": (2,), "gr0": (2,)}
"""Format → the possible numbers of numbers in a line of links: its two ends, and in an edge list a count."""
MOST_DIGITS = 19
_SIGNED = re.compile(rb"^[^#\n]*[-+]", re.MULTILINE)


class RecordedPage(NamedTuple):
    """A page by its recorded id. `crawled`: whether it was fetched; None if the file does not record that."""

    id: int
    url: str
    crawled: bool | None


def is_id(text: bytes) -> bool:
    """Return whether the text is a recorded id that fits into 64 bits."""
    if not text.isdigit():
        return False
    digits = text.lstrip(b"0")
    return len(digits) < MOST_DIGITS or (len(digits) == MOST_DIGITS and int(digits) < 2**63)


def _as_text(text: bytes) -> str:
    """Return a recorded word. It is UTF-8, or in old files Latin-1."""
    try:
        return text.strip().decode("utf-8")
    except UnicodeDecodeError:
        return text.strip().decode("latin-1")


def filled(line: bytes) -> bool:
    """Return whether the line is neither blank nor a comment."""
    begin = line.lstrip()
    return bool(begin) and not begin.startswith(b"#")


def ids_of(line: bytes) -> list[int] | None:
    """Return the ids in a line that has only ids and a comment; None for any other line."""
    words = line.split(b"#", 1)[0].split()
    return [int(word) for word in words] if all(is_id(word) for word in words) else None


def table(text: bytes) -> npt.NDArray[np.int64] | None:
    """Return lines of ids as rows. None if a line has other content than ids, or another number of ids than the first.

    It accepts the same lines as `ids_of`, and is much faster.
    """
    if (b"-" in text or b"+" in text) and _SIGNED.search(text):  # numpy would accept +1 and -0
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            warnings.filterwarnings("ignore", message=".*no data.*", category=UserWarning)
            rows = np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=2)
    except (ValueError, DeprecationWarning, OverflowError):
        return None
    return rows if rows.size else np.empty((0, 2), np.int64)


def entry(kind: str, line: bytes) -> list[int] | RecordedPage | None:
    """Return the numbers of a link, or a page, from a filled line of a file of this kind; None for any other line."""
    widths = WIDTHS.get(kind, ())
    # Kleinberg's format marks each line as a node or an edge. In Massey's, a line of numbers alone is an edge.
    if kind == "gr0":
        word, line = (*line.split(None, 1), b"")[:2]
        kind = {b"n": "nodes", b"e": "edges"}.get(word, "")
    ids = ids_of(line) if kind in ("edges", "hollins") else None
    if kind == "hollins":
        kind = "nodes" if ids is None else "edges"
    if kind == "edges":
        return ids if ids is not None and len(ids) in widths else None
    words = line.split(None, 2)
    if len(words) < 2 or not is_id(words[0]):
        return None
    # A page is its id, in some files 1 or 0 (fetched or not), and its URL. A host has its name in reverse order.
    if kind == "nodes":
        marked = len(words) == 3 and words[1] in (b"0", b"1")
        url = words[2] if marked else line.split(None, 1)[1]
        return RecordedPage(int(words[0]), _as_text(url), words[1] == b"1" if marked else None)
    if kind == "hosts" and b"/" not in words[1]:
        return RecordedPage(int(words[0]), f"http://{'.'.join(reversed(_as_text(words[1]).split('.')))}/", None)
    return None


def is_header(line: bytes) -> bool:
    """Return whether the line may be the header `pages links 1` of a file like hollins.dat. It may also be a link with
    a count."""
    return len(ids_of(line) or ()) == 3


def kind_of(line: bytes, after: bytes) -> str:
    """Return the kind of file that can contain this filled line and the next one; empty if there is none.

    `json`; `gr0`: pages and links as in Kleinberg's graphs; `hollins`: with a header; `edges`; `nodes`; `hosts`.
    """
    words, numbers = line.split(None, 2), line.split(b"#", 1)[0].split()
    if words[0].startswith(b"{"):
        return "json"
    if words[0] in (b"n", b"e") and len(words) == 3:
        return "gr0" if words[1].isdigit() else ""
    if len(words) < 2 or not words[0].isdigit() or words[1].startswith(b"#"):
        return ""
    if len(numbers) > 1 and all(word.isdigit() for word in numbers):
        return "hollins" if is_header(line) and _is_page(after) else "edges"
    if b"://" in words[1] or (len(words) == 3 and b"://" in words[2]):
        return "nodes"
    return "edges" if words[1].isdigit() else "hosts"


def _is_page(line: bytes) -> bool:
    """Return whether the line may be `id url`."""
    words = line.split(None, 1)
    return len(words) == 2 and words[0].isdigit() and b":" in words[1] and ids_of(line) is None
