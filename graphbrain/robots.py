"""What a host's robots.txt says, read by protego: which URLs may be fetched, and how long to wait between two.

Texts are parsed once a process and remembered by their fingerprint, which is what claims read of a host.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from hashlib import blake2b

from protego import Protego

from graphbrain.errors import BadInput

__all__ = ["LONGEST_TEXT", "Robots", "fingerprint", "parsed", "readable", "remembered"]

LONGEST_TEXT = 500_000
"""Characters of a robots.txt that are read, as Google does; what comes after them is ignored."""
REMEMBERED = 2_000


class Robots:
    """The rules of one text. Thread-safe: it is only read."""

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse(text)

    def allows(self, url: str, agent: str) -> bool:
        """May this agent fetch the URL?"""
        return bool(self._rules.can_fetch(url, agent))

    def delay(self, agent: str) -> float:
        """Seconds of the Crawl-delay for this agent; 0 when there is none."""
        seconds = self._rules.crawl_delay(agent)
        return float(seconds) if seconds is not None and math.isfinite(seconds) and seconds > 0 else 0.0


def readable(text: object) -> str:
    """A robots.txt as text of at most LONGEST_TEXT characters, cut at the end of a line.

    Bytes are read as UTF-8, or else as Latin-1, as old files are. Raises BadInput for what is no text.
    """
    if isinstance(text, bytes | bytearray | memoryview):
        text = _decoded(bytes(text))
    if not isinstance(text, str):
        raise BadInput(f"A robots.txt is text or bytes, not {type(text).__name__}.")
    if "\0" in text:
        raise BadInput("That is no robots.txt: it holds NUL characters, so it is no text.")
    text = text.removeprefix("\ufeff").encode("utf-8", "replace").decode()
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT].rpartition("\n")[0]
    return text


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def fingerprint(text: str) -> str:
    """What tells this text from others."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


_memory: OrderedDict[str, Robots] = OrderedDict()
_lock = threading.Lock()


def remembered(mark: str) -> Robots | None:
    """The rules of the text with this fingerprint, if this process has parsed it lately."""
    with _lock:
        rules = _memory.get(mark)
        if rules is not None:
            _memory.move_to_end(mark)
        return rules


def parsed(text: str) -> Robots:
    """The rules of a text, remembered."""
    mark = fingerprint(text)
    rules = remembered(mark)
    if rules is None:
        rules = Robots(text)
        with _lock:
            _memory[mark] = rules
            while len(_memory) > REMEMBERED:
                _memory.popitem(last=False)
    return rules
