"""Tokens of claims and visits, which are unique and contain the time of their creation.

A token is a UUID of version 7 (RFC 9562, section 5.7) as 32 hex digits: milliseconds since the epoch, then random bits.
It is made before the transaction that uses it, so that an attempt whose answer was lost can be recognised. Because it
contains its time, the time of a claim needs no property of its own.
"""

from __future__ import annotations

import uuid

__all__ = ["asked_at", "made_at", "token"]

_RANDOM_BITS = 74


def token(now: float) -> str:
    """Return a new token of this time (epoch seconds, 1970 to 10889)."""
    millis = min(max(int(now * 1000), 0), 2**48 - 1)
    noise = uuid.uuid4().int & (2**_RANDOM_BITS - 1)
    high, low = noise >> 62, noise & (2**62 - 1)
    return f"{millis << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low:032x}"


def made_at(text: str) -> float | None:
    """Return the time of a token in epoch seconds, or None for one without a time, such as a UUID of another
    version."""
    try:
        identifier = uuid.UUID(hex=text)
    except (ValueError, AttributeError, TypeError):
        return None
    return (identifier.int >> 80) / 1000.0 if identifier.version == 7 else None


def asked_at(token: str, ended_at: float) -> float:
    """Return the earliest time of a request under a claim: that of the claim's token, or else when the request ended.

    A clock that was ahead may have made the token: no claim is later than its visit.
    """
    claimed_at = made_at(token)
    return ended_at if claimed_at is None else min(claimed_at, ended_at)
