"""How long a server asks to be left alone: the header Retry-After, in seconds or as a date, by RFC 9110."""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from numbers import Real

__all__ = ["LONGEST", "moment", "seconds"]

LONGEST = 1e9
"""Seconds that are ever meant: more is taken as this."""
LONGEST_TEXT = 100
_NUMBER = re.compile(r"\d+(?:\.\d*)?", re.ASCII)


def seconds(value: object, now: float) -> float | None:
    """Seconds to wait from `now` on, by a number, or by the header's text: a number or a date, one that is past is 0.

    None where it says nothing: for what is neither, as for less than 0, and for what is no number at all.
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
    """The epoch seconds of a date in a header, in any of HTTP's three forms; None for what is none."""
    if not text or len(text) > LONGEST_TEXT:
        return None
    try:
        at = parsedate_to_datetime(text.strip().replace(":60 ", ":59 "))  # a leap second
        return (at.replace(tzinfo=UTC) if at.tzinfo is None else at).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
