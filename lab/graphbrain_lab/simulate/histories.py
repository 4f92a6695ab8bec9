"""Histories of changes of pages: invented by the laws that webs seem to follow, or read from a record of real pages.

A recorded history is a table, plain or gzipped, with a change on each line, tabs between columns, and a header that
names them: `epoch` (seconds), `document` (the page), and optionally `kind` (`first`: the page was found; `change`;
other values are no change) and `current_url` (for its host). The change log of Open Terms Archive is such a table.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.arrays import Floats, Ints
from graphbrain.schedule.value import DAY

__all__ = ["History", "recorded", "synthetic"]

MEDIAN_RATE, RATE_SPREAD, VALUE_TAIL = 0.1, 1.75, 1.1
"""The median a day and the standard deviation of ln λ of change rates, which are log-normal; and the tail of values,
which are Pareto."""
HOST_TAIL = 1.4


@dataclass(frozen=True, slots=True)
class History:
    """The changes of each of n pages in a span of `days`.

    Attributes:
        value: The value of each page.
        rate: Changes a day of each page: the true rate, or the recorded mean.
        host: The number of each page's host, from 0.
        moments: page·span + day of every change, ascending, so that one search serves all pages.
    """

    name: str
    days: float
    value: Floats
    rate: Floats
    host: Ints
    moments: Floats

    @property
    def pages(self) -> int:
        """Return the number of pages."""
        return len(self.value)

    @property
    def _span(self) -> float:
        return self.days + 1.0

    def next_change(self, pages: Ints, since: float) -> Floats:
        """Return the day of the next change of each of these pages after the day `since`; infinite without one."""
        base = pages * self._span
        index = np.searchsorted(self.moments, base + since, side="right")
        moments = self.moments[np.minimum(index, len(self.moments) - 1)] if len(self.moments) else base + np.inf
        inside = (index < len(self.moments)) & (moments < base + self._span)
        return np.where(inside, moments - base, np.inf)


def synthetic(pages: int, days: float, *, seed: int = 1, correlation: float = 0.0, hosts: int = 1) -> History:
    """Return pages that change at random times (Poisson), each with another rate.

    Args:
        pages: The number of pages.
        days: The length of the history.
        seed: The seed of the random generator.
        correlation: The correlation of ln value with ln rate, −1 to 1.
        hosts: The number of hosts, with sizes by Zipf's law.
    """
    dice = np.random.default_rng(seed)
    first, second = dice.standard_normal(pages), dice.standard_normal(pages)
    value = _pareto(first)
    rate = MEDIAN_RATE * np.exp(RATE_SPREAD * (correlation * first + np.sqrt(1.0 - correlation**2) * second))
    sizes = 1.0 / np.arange(1, hosts + 1) ** HOST_TAIL
    host = dice.choice(hosts, pages, p=sizes / sizes.sum()).astype(np.int64)
    count = dice.poisson(rate * days)
    page = np.repeat(np.arange(pages), count)
    moments = np.sort(page * (days + 1.0) + dice.random(len(page)) * days)
    return History(f"{pages} invented pages", days, value, rate, host, moments)


def _pareto(normal: Floats) -> Floats:
    """Return values of Pareto's law with the ranks of normal numbers."""
    from scipy.special import ndtr

    return np.asarray(ndtr(-normal) ** (-1.0 / VALUE_TAIL), dtype=np.float64)


def recorded(path: Path, days: float, *, seed: int = 1) -> History:
    """Return the last `days` of the record in a file, for the pages that are known at their beginning. Values are
    invented.

    Raises:
        BadInput: The file is no such record. The message names the line.
    """
    rows = _rows(path)
    if not rows:
        raise BadInput(f"{path.name} records no change.")
    # Find the pages that are known at the beginning, and their hosts.
    end = max(epoch for epoch, *_ in rows) / DAY
    start = end - days
    hosts: dict[str, str] = {}
    known: set[str] = set()
    for epoch, _, document, name in rows:
        hosts[document] = name
        if epoch / DAY <= start:
            known.add(document)
    if not known:
        raise BadInput(f"{path.name} knows no page {days:g} days before its end: give fewer days.")
    # Number them, and collect their changes.
    number = {document: index for index, document in enumerate(sorted(known))}
    changes = [
        (number[document], epoch / DAY - start)
        for epoch, kind, document, _ in rows
        if kind == "change" and document in number and epoch / DAY > start
    ]
    page = np.array([page_number for page_number, _ in changes], dtype=np.int64)
    moments = np.sort(page * (days + 1.0) + np.array([day for _, day in changes]))
    # Compute the columns of pages.
    names = sorted({hosts[document] for document in number})
    host = np.array([names.index(hosts[document]) for document in number], dtype=np.int64)
    rate = np.bincount(page, minlength=len(number)) / days
    value = _pareto(np.random.default_rng(seed).standard_normal(len(number)))
    return History(path.name, days, value, rate.astype(np.float64), host, moments)


def _rows(path: Path) -> list[tuple[float, str, str, str]]:
    """Return (epoch, kind, document, host) of each line."""
    # Read the file, packed or not.
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError):
        raise BadInput(f"{path} is damaged, or no text.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror or error}).") from None
    lines = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    if not {"epoch", "document"} <= set(lines.fieldnames or ()):
        raise BadInput(f"{path.name} is no change history: its first line must name the columns epoch and document.")
    # Each line is one change.
    rows = []
    for line in lines:
        try:
            rows.append((float(line["epoch"]), line.get("kind") or "change", line["document"], _host(line)))
        except (TypeError, ValueError):
            raise BadInput(f"{path.name}, line {lines.line_num}: expected epoch seconds and a document.") from None
    return rows


def _host(line: dict[str, str]) -> str:
    return urlsplit(line.get("current_url") or "").hostname or ""
