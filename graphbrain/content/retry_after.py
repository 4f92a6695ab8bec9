"""The wait that a server asks for: the header Retry-After, in seconds or as a date, by RFC 9110."""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from numbers import Real

__all__ = ["LONGEST", "moment", "seconds"]

LONGEST = 1e9
"""The largest number of seconds; larger values count as this."""
LONGEST_TEXT = 100
_NUMBER = re.compile(r"\d+(?:\.\d*)?", re.ASCII)


def seconds(value: object, now: float) -> float | None:
    """Return the seconds to wait from `now` on, or None for a value that is no wait.

    Args:
        value: A number, or the header's text: a number of seconds or a date. A past date is 0. A negative number and
            any other value is no wait.
        now: Epoch seconds.
    """
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        text = value.strip()
        if _NUMBER.fullmatch(text):
            return min(float(text), LONGEST)
        at = moment(text)
        return None if at is None else min(max(at - now, 0.0), LONGEST)
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        wait = float(value)
    except OverflowError:
        return LONGEST if isinstance(value, int) and value > 0 else None
    return min(wait, LONGEST) if math.isfinite(wait) and wait >= 0 else None


def moment(text: str | None) -> float | None:
    """Return the epoch seconds of a date in a header, in any of HTTP's three forms, or None for another text."""
    if not text or len(text) > LONGEST_TEXT:
        return None
    try:
        at = parsedate_to_datetime(text.strip().replace(":60 ", ":59 "))  # a leap second
        return (at.replace(tzinfo=UTC) if at.tzinfo is None else at).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
