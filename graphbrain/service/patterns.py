"""How the OpenAPI document describes texts and numbers that the brain checks itself.

The brain's own sentences say best what is wrong, so nothing here refuses a request. What fits a pattern is taken; of
names in scripts that a pattern does not list, the brain takes more than the document says.
"""

from __future__ import annotations

from pydantic.config import JsonDict

from graphbrain.methods import CASH, UNINDEXED
from graphbrain.model import KINDS

__all__ = ["HOST", "KINDS_GIVEN", "PAGE", "PART_OF_HOST", "SCORE", "SCORE_OR_CASH", "URL", "between", "listed"]

_LETTERS = "A-Za-zß-öø-ÿα-ωа-яёぁ-ゖァ-ヺ一-龥가-힣"
_LABEL = rf"[0-9_{_LETTERS}-]{{1,63}}"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV6 = r"\[(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:(?:[0-9A-Fa-f]{1,4}:){1,5}|:):[0-9A-Fa-f]{1,4})\]"
_NAME = rf"(?:{_LABEL}\.){{0,20}}[{_LETTERS}][0-9_{_LETTERS}-]{{0,62}}"
_PORT = r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}))?"
_AT = rf"(?:{_NAME}|(?:{_BYTE}\.){{3}}{_BYTE}|{_IPV6}){_PORT}"
_SCHEME = "[Hh][Tt][Tt][Pp][Ss]?://"
_ADDRESS = rf"{_SCHEME}{_AT}(?:[/?#][!-~¡-\u1fff\u3040-\ud7ff]*)?"

URL: JsonDict = {"pattern": f"^{_ADDRESS}$"}
"""A URL of http or https."""
PAGE: JsonDict = {"pattern": f"^(?:[0-9a-f]{{32}}|{_ADDRESS})$"}
"""A page's URL or key."""
HOST: JsonDict = {"pattern": f"^(?:{_SCHEME})?{_AT}/?$"}
"""A host's name, or an origin."""
PART_OF_HOST: JsonDict = {"pattern": r"^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$"}
SCORE: JsonDict = {"enum": ["authority", "hub", *UNINDEXED]}
SCORE_OR_CASH: JsonDict = {"enum": ["authority", "hub", CASH, *UNINDEXED]}

KINDS_GIVEN: JsonDict = {"items": {"type": "string", "enum": [*KINDS]}, "contains": {"const": "page"}}
"""What a call of `next_urls` asks for."""


def between(least: float, most: float, *, below: bool = False) -> JsonDict:
    """A number from `least` to `most`, or `below` it."""
    return {"minimum": least, "exclusiveMaximum" if below else "maximum": most}


def listed(item: JsonDict) -> JsonDict:
    """A list of such texts."""
    return {"items": {"type": "string", **item}}
