"""The removal of user names and passwords from URLs, which an old brain may contain, before they are shown or exported.

All text for people and files passes through this module: pages and links, answers of questions, tables, refusals. Only
a claim keeps the whole URL, because it is fetched.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["masked", "masked_values"]

_USERINFO = re.compile(r"(//)[^/?#\s\\]*@")
"""The text between the slashes and the last @ of an authority (RFC 3986, 3.2.1). A backslash ends it, as in
browsers."""


def masked(text: str) -> str:
    """Return a text without the user names and passwords in its URLs."""
    return _USERINFO.sub(r"\1", text) if "@" in text else text


def masked_values(value: Any) -> Any:
    """Return a text, or a list of texts, without user names and passwords in URLs; any other value unchanged."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list | tuple):
        return type(value)(map(masked_values, value))
    return value
