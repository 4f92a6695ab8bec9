"""The bodies of requests: how many bytes of them are held at once, in all and for each caller, and how much there is to
parse in one.

Python's JSON parser locks the interpreter until it is done, so it would delay other requests even in a thread of its
own. Its time depends on the number of values. They are counted before the body is parsed, which takes a small part of
that time. Large bodies of one caller are counted and parsed one after another, with pauses for the requests of others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import numpy as np

from graphbrain.service.access import Grant
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import Places

__all__ = ["HELD", "HELD_OF_ONE", "LONGEST_NUMBER", "Body", "marks_of"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

HELD, HELD_OF_ONE = 16, 8
"""Bodies of the largest size that fit into what is held at once: in all, and for one token."""
SMALL = 2**16
"""Bytes of a body whose values need not be counted."""
MOST_PARTS, MOST_MARKS = 300_000, 750_000
"""The most objects, lists and names in a body, and the most marks: each `{`, `[`, `:` and `,` outside texts. To parse
so many takes up to .3 s."""
LONGEST_NUMBER = 640
"""The most digits of an integer, the least that Python can be set to: the time to read one grows with their square."""
PAUSE = 5e-7
"""Seconds for other requests, for each mark of a body that is parsed next: about as long as that takes."""


class Body:
    """The body of one request, of at most `most` bytes, which must arrive in so many `seconds`. `places`: the bytes of
    all bodies that are held."""

    def __init__(self, places: Places, grant: Grant, most: int, seconds: float) -> None:
        self._places, self._grant, self._most, self._seconds = places, grant, most, seconds
        self._size = 0
        self._turn = places.turn(grant)

    async def read(self, receive: Receive, length: bytes | None) -> bytes:
        """Return the body, which has arrived whole and can be parsed. Raises Refusal."""
        # Refuse a body whose announced length is too large.
        most, seconds = self._most, self._seconds
        too_large = Refusal(413, "TooLarge", f"A body has at most {most:,} bytes; send less at once.")
        if length is not None and length.isdigit() and int(length) > most:
            raise too_large
        # Read it part by part, and take a place for the bytes of each.
        parts = []
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "Gone", "The request broke off.")
                    parts.append(part := message.get("body", b""))
                    if self._size + len(part) > most:
                        raise too_large
                    self._places.take(self._grant, len(part))
                    self._size += len(part)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refusal(408, "TimedOut", f"The body did not arrive in {seconds:g} s.", try_again=True) from None
        # Count the values of a large one before it is parsed.
        whole = b"".join(parts)
        if self._size > SMALL:
            async with self._turn:
                if json.detect_encoding(whole) not in ("utf-8", "utf-8-sig"):
                    raise Refusal(400, "BadInput", "A body is JSON in UTF-8.")
                if (marks := await asyncio.to_thread(marks_of, whole)) is None:
                    words = f"{MOST_PARTS:,} objects, lists and names, and {MOST_MARKS:,} values"
                    raise Refusal(413, "TooLarge", f"A body has at most {words}; send less at once.")
                await asyncio.sleep(marks * PAUSE)
        return whole

    def leave(self) -> None:
        """End the request: its body is no longer held."""
        self._places.leave(self._grant, self._size)


def marks_of(body: bytes) -> int | None:
    """Return the number of marks in a body of JSON, whatever its texts contain; None for too many. The number is an
    upper bound if texts have marks. Most of the work is numpy's, which lets other threads go on."""
    if (marks := _marks(body)) is not None:
        return marks
    letters = np.frombuffer(body.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    in_text = np.logical_xor.accumulate(letters == ord('"'))
    return _marks(letters[~in_text].tobytes())


def _marks(text: bytes) -> int | None:
    parts = sum(map(text.count, (b"{", b"[", b":")))
    marks = parts + text.count(b",")
    return None if parts > MOST_PARTS or marks > MOST_MARKS else marks
