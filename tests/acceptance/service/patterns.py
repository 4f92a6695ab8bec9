"""Pages and hosts that the brain takes: what fits a pattern names one. The brain takes more, as names in other
scripts."""

from __future__ import annotations

from typing import Any

__all__ = ["HOST", "PAGE", "described"]

_LETTERS = "A-Za-zß-öø-ÿα-ωа-яёぁ-ゖァ-ヺ一-龥가-힣"
_LABEL = rf"(?:[0-9A-Za-z_-]{{1,40}}|[0-9_{_LETTERS}-]{{1,8}})"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV6 = r"\[(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:(?:[0-9A-Fa-f]{1,4}:){1,5}|:):[0-9A-Fa-f]{1,4})\]"
_NAME = rf"(?:{_LABEL}\.){{0,4}}(?:[A-Za-z][0-9A-Za-z_-]{{0,40}}|[{_LETTERS}][0-9_{_LETTERS}-]{{0,7}})"
_PORT = r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}))?"
_AT = rf"(?:{_NAME}|(?:{_BYTE}\.){{3}}{_BYTE}|{_IPV6}){_PORT}"
_SCHEME = "[Hh][Tt][Tt][Pp][Ss]?://"
_ADDRESS = rf"{_SCHEME}{_AT}(?:[/?#][!-~¡-\u1fff\u3040-\ud7ff]*)?"

PAGE = f"^(?:[0-9a-f]{{32}}|{_ADDRESS})$"
"""A page's URL or key."""
HOST = f"^(?:{_SCHEME})?{_AT}/?$"
"""A host's name, or an origin."""
_NAMED = {
    **dict.fromkeys(("url", "urls", "source", "target", "other", "pages"), PAGE),
    **dict.fromkeys(("host", "name"), HOST),
}


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document in which arguments that name pages and hosts have a pattern."""
    for methods in schema["paths"].values():
        for facts in methods.values():
            arguments = {each["name"]: each["schema"] for each in facts.get("parameters", ())}
            if "requestBody" in facts:
                body = facts["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                arguments |= schema["components"]["schemas"][body.rsplit("/", 1)[1]]["properties"]
            for name in arguments.keys() & _NAMED.keys():
                for kind in _texts(arguments[name]):
                    kind["pattern"] = _NAMED[name]
    return schema


def _texts(schema: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = [schema, schema.get("items", {}), *schema.get("anyOf", ())]
    return [kind for kind in kinds if kind.get("type") == "string"]
