"""The bodies of requests: how many bytes of them are held at once, in all and for each caller, and how much there is to
parse in one.

Python's JSON parser locks the interpreter until it is done, so it would delay other requests even in a thread of its
own. Its time depends on the number of values. They are counted before the body is parsed, which takes a small part of
that time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import numpy as np

from graphbrain.service.access import Grant
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import Places

__all__ = ["HELD", "HELD_OF_ONE", "Body", "is_too_much"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

HELD, HELD_OF_ONE = 16, 8
"""Bodies of the largest size that fit into what is held at once: in all, and for one token."""
SMALL = 2**16
"""Bytes of a body whose values need not be counted."""
MOST_CONTAINERS, MOST_MARKS = 250_000, 1_500_000
"""The most objects and lists in a body, and the most marks: each `{`, `[`, `,` and `:` outside texts. To parse so many
takes some tenths of a second."""


class Body:
    """The body of one request, of at most `most` bytes, which must arrive in so many `seconds`. `places`: the bytes of
    all bodies that are held."""

    def __init__(self, places: Places, grant: Grant, most: int, seconds: float) -> None:
        self._places, self._grant, self._most, self._seconds = places, grant, most, seconds
        self._size = 0

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
        if self._size > SMALL and await asyncio.to_thread(is_too_much, whole):
            words = f"{MOST_CONTAINERS:,} objects and lists, and {MOST_MARKS:,} values"
            raise Refusal(413, "TooLarge", f"A body has at most {words}; send less at once.")
        return whole

    def leave(self) -> None:
        """End the request: its body is no longer held."""
        self._places.leave(self._grant, self._size)


def is_too_much(body: bytes) -> bool:
    """Return True if a body of JSON has too many values, whatever its texts contain. Most of the work is numpy's, which
    lets other threads go on."""
    if not _has_too_many(body):
        return False
    letters = np.frombuffer(body.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    in_text = np.logical_xor.accumulate(letters == ord('"'))
    return _has_too_many(letters[~in_text].tobytes())


def _has_too_many(text: bytes) -> bool:
    containers = text.count(b"{") + text.count(b"[")
    return containers > MOST_CONTAINERS or containers + text.count(b",") + text.count(b":") > MOST_MARKS
