"""The keys that pages had by all earlier URL rules, which a brain that was moved may still use.

Notes, and pages forgotten for ever, whose URLs are no pages have only the key. They stay under the key that they were
given. Therefore a lookup of a URL also looks for its earlier keys.
"""

from __future__ import annotations

from collections.abc import Callable

from graphbrain.urls import rules_v1, rules_v2

__all__ = ["VERSIONS", "OldKeys", "old_keys"]

VERSIONS = (rules_v1.VERSION, rules_v2.VERSION)
"""The rules from which a brain can be moved to the present ones."""

OldKeys = Callable[[str], tuple[str, ...]]


def old_keys(first: int, extra: Callable[[str], str] | None = None, hash_bang: bool = False) -> OldKeys:
    """Return a function: URL → the keys that its page had since version `first` of the rules, the newest first.

    `extra` is the user's own last step. The function is thread-safe.
    """
    of_version = {rules_v2.VERSION: rules_v2.old_keys(extra, hash_bang), rules_v1.VERSION: rules_v1.old_keys(extra)}
    asked = [keys for version, keys in of_version.items() if version >= first]

    def of(url: str) -> tuple[str, ...]:
        made = (keys(url) for keys in asked)
        return tuple(dict.fromkeys(key for key in made if key is not None))

    return of
