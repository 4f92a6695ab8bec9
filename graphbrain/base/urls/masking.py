"""Removal of user names and passwords from URLs: they are never shown or exported, even if an old brain holds some.

All text that leaves a brain for people and files passes through here: pages and links, answers of questions, tables,
refusals. Only a claim keeps the URL that is to be fetched.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["masked", "masked_values"]

_USERINFO = re.compile(r"(//)[^/?#\s\\]*@")
"""The text between the slashes and the last @ of an authority (RFC 3986, 3.2.1). A backslash ends it, as in
browsers."""


def masked(text: str) -> str:
    """Return the text with its URLs, without the user names and passwords in these."""
    return _USERINFO.sub(r"\1", text) if "@" in text else text


def masked_values(value: Any) -> Any:
    """Return the same for a text or for all texts in a list, and any other value unchanged."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list | tuple):
        return type(value)(map(masked_values, value))
    return value
