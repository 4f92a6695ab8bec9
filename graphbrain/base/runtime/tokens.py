"""Tokens of claims and visits. They are unique, and contain the time of their creation.

A token is a UUID of version 7 (RFC 9562, section 5.7) as 32 hex digits: milliseconds since the epoch, then random bits.
It is made before the transaction that uses it, so that a transaction that runs again recognises its first attempt. It
contains the time of a claim, so pages need no property for that.
"""

from __future__ import annotations

import uuid

__all__ = ["asked_at", "made_at", "token"]

_RANDOM_BITS = 74


def token(now: float) -> str:
    """Return a new token for a time in epoch seconds, from 1970 to 10889."""
    millis = min(max(int(now * 1000), 0), 2**48 - 1)
    noise = uuid.uuid4().int & (2**_RANDOM_BITS - 1)
    high, low = noise >> 62, noise & (2**62 - 1)
    return f"{millis << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low:032x}"


def made_at(text: str) -> float | None:
    """Return the time of a token in epoch seconds; None for a text without one, such as a UUID of another version."""
    try:
        identifier = uuid.UUID(hex=text)
    except (ValueError, AttributeError, TypeError):
        return None
    return (identifier.int >> 80) / 1000.0 if identifier.version == 7 else None


def asked_at(token: str, ended_at: float) -> float:
    """Return the earliest possible time of a request under a claim: the time of the claim's token.

    It is the end of the request if the token has no time, or a later one because a clock was ahead.
    """
    claimed_at = made_at(token)
    return ended_at if claimed_at is None else min(claimed_at, ended_at)
