"""Lines of a stream, read ahead by a thread, so that no work waits for a line.

The thread reads what the system has, not what Python has buffered: a process that ends while it waits for a line leaves
no lock behind.
"""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["InputLines"]

CHUNK = 1 << 16
A_WHILE = 3_600.0  # on some systems Ctrl-C does not interrupt a wait without a time limit
AHEAD = 200
"""The most lines that are read ahead. Then their writer waits."""


class InputLines:
    """The lines of a binary stream with their numbers, the first is 1; blank ones are counted and left out."""

    def __init__(self, stream: Any, ahead: int = AHEAD) -> None:
        self._stream = stream
        self._queue: queue.Queue[tuple[int, str] | None] = queue.Queue(ahead)
        self._ended = False
        self._error: OSError | None = None
        threading.Thread(target=self._read, name="graphbrain lines", daemon=True).start()

    @property
    def ended(self) -> bool:
        """Return whether the last line was taken."""
        return self._ended

    def next(self, timeout: float | None = None) -> tuple[int, str] | None:
        """The next line and its number; None when none came in time, or there are no more. Raises OSError."""
        if self._ended:
            return None
        line: tuple[int, str] | None
        while True:
            try:
                line = self._queue.get_nowait() if timeout == 0 else self._queue.get(timeout=timeout or A_WHILE)
                break
            except queue.Empty:
                if timeout is not None:
                    return None
        if line is None:
            self._ended = True
            if self._error is not None:
                raise self._error
        return line

    def there(self, most: int) -> Iterator[tuple[int, str]]:
        """Yield the lines that have arrived, at most `most`, without waiting."""
        for _ in range(most):
            if (line := self.next(0)) is None:
                return
            yield line

    def _read(self) -> None:
        number = 0
        rest: list[bytes] = []
        try:
            for chunk in self._chunks():
                first, *others = chunk.split(b"\n")
                rest.append(first)
                for other in others:
                    number += 1
                    self._put(number, b"".join(rest))
                    rest = [other]
        except OSError as error:
            self._error = error
        self._put(number + 1, b"".join(rest))
        self._queue.put(None)

    def _put(self, number: int, line: bytes) -> None:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
        if text:
            self._queue.put((number, text))

    def _chunks(self) -> Iterator[bytes]:
        try:
            file = self._stream.fileno()
        except (AttributeError, io.UnsupportedOperation):
            file = None
        while chunk := self._stream.readline() if file is None else os.read(file, CHUNK):
            yield chunk
