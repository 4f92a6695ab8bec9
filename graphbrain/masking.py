"""User names and passwords in URLs: they are never shown or exported, whatever an old brain holds.

All that leaves a brain as text for people and files goes through here: pages and links, answers of questions, tables,
refusals. A claim keeps the URL that is to be fetched.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["masked", "masked_values"]

_USERINFO = re.compile(r"(//)[^/?#\s\\]*@")
"""What is between the slashes and the last @ of an authority (RFC 3986, 3.2.1); a backslash ends it, as in browsers."""


def masked(text: str) -> str:
    """The text with the URLs in it, but without the user names and passwords of these."""
    return _USERINFO.sub(r"\1", text) if "@" in text else text


def masked_values(value: Any) -> Any:
    """The same of a text, or of all texts in a list; any other value as it is."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list | tuple):
        return type(value)(map(masked_values, value))
    return value
