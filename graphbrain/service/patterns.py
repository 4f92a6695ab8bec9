"""The description in the OpenAPI document of texts and numbers that the brain checks itself.

The brain's own sentences describe errors best, so nothing here refuses a request. A value that fits a pattern is
accepted. Of names in scripts that a pattern does not list, the brain accepts more than the document describes.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from pydantic.config import JsonDict

from graphbrain.base.model import KINDS
from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.settings import (
    CHOICES,
    HOST_LISTS,
    LARGEST,
    LONGEST,
    LONGEST_NAME,
    NAMES,
    RANGES,
    VALUES,
    Kind,
    Settings,
)

__all__ = [
    "HOST",
    "KINDS_GIVEN",
    "NAME_OR_NONE",
    "PAGE",
    "PART_OF_HOST",
    "ends",
    "listed",
    "of_settings",
]

_LETTERS = "A-Za-zß-öø-ÿα-ωа-яёぁ-ゖァ-ヺ一-龥가-힣"
_LABEL = rf"(?:[0-9A-Za-z_-]{{1,40}}|[0-9_{_LETTERS}-]{{1,8}})"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV6 = r"\[(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:(?:[0-9A-Fa-f]{1,4}:){1,5}|:):[0-9A-Fa-f]{1,4})\]"
_NAME = rf"(?:{_LABEL}\.){{0,4}}(?:[A-Za-z][0-9A-Za-z_-]{{0,40}}|[{_LETTERS}][0-9_{_LETTERS}-]{{0,7}})"
_PORT = r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}))?"
_AT = rf"(?:{_NAME}|(?:{_BYTE}\.){{3}}{_BYTE}|{_IPV6}){_PORT}"
_SCHEME = "[Hh][Tt][Tt][Pp][Ss]?://"
_ADDRESS = rf"{_SCHEME}{_AT}(?:[/?#][!-~¡-\u1fff\u3040-\ud7ff]*)?"

PAGE: JsonDict = {"pattern": f"^(?:[0-9a-f]{{32}}|{_ADDRESS})$"}
"""A page's URL or key."""
HOST: JsonDict = {"pattern": f"^(?:{_SCHEME})?{_AT}/?$"}
"""A host's name, or an origin."""
NAME_OR_NONE: JsonDict = {"pattern": "^(?:[!-~](?:[ -~]{0,98}[!-~])?)?$"}
"""A name, or an empty text for none; names in other scripts are taken, too."""
PART_OF_HOST: JsonDict = {"pattern": r"^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$"}
_HOSTS = r"^(?:(?:\*|[a-z][a-z0-9]{0,20}(?:\.[a-z]{2,9})?)(?: [a-z][a-z0-9]{0,20}\.[a-z]{2,9}){0,9})?$"
_TEXTS = {
    **dict.fromkeys(HOST_LISTS, _HOSTS),
    **dict.fromkeys(NAMES, "^[A-Za-z][A-Za-z0-9-]*$"),
    "intervals": "^(?:[a-z/]{1,20} [1-9][0-9]{0,6})?$",
}
KINDS_GIVEN: JsonDict = {"items": {"type": "string", "enum": [*KINDS]}, "contains": {"const": "page"}}
"""The schema of the kinds of a call of `next_urls`."""


def ends(bounds: Bounds) -> JsonDict:
    """Return the keywords of a JSON schema for the bounds of a number."""
    document: JsonDict = {"exclusiveMinimum" if bounds.above else "minimum": bounds.least}
    if bounds.most != inf:
        document["exclusiveMaximum" if bounds.below else "maximum"] = bounds.most
    return document


def listed(item: JsonDict) -> JsonDict:
    """Return a list of such texts."""
    return {"items": {"type": "string", **item}}


def of_settings(*kinds: Kind) -> JsonDict:
    """Return the part of a schema for settings of these kinds and their values."""
    properties: JsonDict = {name: _of_setting(name, default) for name, default in Settings.names(*kinds).items()}
    return {"properties": properties, "additionalProperties": False}


def _of_setting(name: str, default: bool | float | str) -> JsonDict:
    """Return the schema of a setting's value. Of texts with a meaning, such as patterns and lists of hosts, the brain
    accepts more than the document describes."""
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, (int, float)):
        bounds = RANGES[name]
        bounds = replace(bounds, below=bounds.below or bounds.most == LARGEST)
        steps: JsonDict = {"multipleOf": 1 / 1024} if name == "intra_host_weight" else {}
        return {"type": "integer" if isinstance(default, int) else "number", **ends(bounds), **steps}
    if name == "value":
        return {"enum": [*VALUES, default]}
    if name in CHOICES:
        return {"enum": list(CHOICES[name])}
    return {
        "type": "string",
        "pattern": _TEXTS.get(name, "^[A-Za-z0-9-]*$"),
        "maxLength": LONGEST.get(name, LONGEST_NAME),
    }
