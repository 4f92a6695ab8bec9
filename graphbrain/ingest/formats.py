"""What the files of recorded crawls are made of, line by line: numbers, comments, URLs; and which format a file is in.

Pure functions of bytes. Links are lines of two or three whole numbers, the third a count; what follows a '#' there is a
comment. Elsewhere a line is one only as a whole, for URLs have a '#' of their own.
"""

from __future__ import annotations

import io
import re
import warnings

import numpy as np
import numpy.typing as npt

__all__ = ["BOM", "as_text", "filled", "ids_of", "is_header", "is_id", "kind_of", "table"]

BOM = b"\xef\xbb\xbf"
"""What some programs put before the first line of UTF-8."""
MOST_DIGITS = 19
_SIGNED = re.compile(rb"^[^#\n]*[-+]", re.MULTILINE)


def is_id(text: bytes) -> bool:
    """Is it a recorded id, that fits into 64 bits?"""
    if not text.isdigit():
        return False
    digits = text.lstrip(b"0")
    return len(digits) < MOST_DIGITS or (len(digits) == MOST_DIGITS and int(digits) < 2**63)


def as_text(text: bytes) -> str:
    """A recorded word: UTF-8, or what old recorders wrote."""
    try:
        return text.strip().decode("utf-8")
    except UnicodeDecodeError:
        return text.strip().decode("latin-1")


def filled(line: bytes) -> bool:
    """Is it neither blank nor a comment?"""
    begin = line.lstrip()
    return bool(begin) and not begin.startswith(b"#")


def ids_of(line: bytes) -> list[int] | None:
    """The ids in a line of nothing else but a comment, None for any other line."""
    words = line.split(b"#", 1)[0].split()
    return [int(word) for word in words] if all(is_id(word) for word in words) else None


def table(text: bytes) -> npt.NDArray[np.int64] | None:
    """Lines of ids as rows; None when one of them is something else, or is not as wide as the first.

    What it takes is what `ids_of` takes of each line, but much faster.
    """
    if (b"-" in text or b"+" in text) and _SIGNED.search(text):  # numpy would take +1, and -0
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            warnings.filterwarnings("ignore", message=".*no data.*", category=UserWarning)
            found = np.loadtxt(io.BytesIO(text), dtype=np.int64, ndmin=2)
    except (ValueError, DeprecationWarning, OverflowError):
        return None
    return found if found.size else np.empty((0, 2), np.int64)


def is_header(line: bytes) -> bool:
    """Is it the header `pages links 1` of a file like hollins.dat? It looks like a link with a count, too."""
    return len(ids_of(line) or ()) == 3


def kind_of(line: bytes, after: bytes) -> str:
    """The kind of file in which this filled line, and the filled line after it, may stand; empty if there is none.

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
    """May it be a line `id url`?"""
    words = line.split(None, 1)
    return len(words) == 2 and words[0].isdigit() and b":" in words[1] and ids_of(line) is None
