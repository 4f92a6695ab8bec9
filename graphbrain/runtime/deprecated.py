"""Deprecation of public names: the old name works for one minor version, with a warning that names the new one.

docs/reference/stability.md has the policy.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

__all__ = ["Renamed", "renamed_argument", "renamed_keys", "warn"]

F = TypeVar("F", bound=Callable[..., Any])


class Renamed(NamedTuple):
    """The new name of something public, and the version in which the old one may be gone."""

    name: str
    gone_in: str


def warn(old: str, new: Renamed, *, above: int = 1) -> None:
    """Warn that an old name was used.

    Args:
        old: The old name.
        new: The new name.
        above: The number of calls between the caller of this function and the code that used the old name.
    """
    message = f"{old} is deprecated and may be gone in graphbrain {new.gone_in}: use {new.name}."
    warnings.warn(message, DeprecationWarning, stacklevel=2 + above)


def renamed_argument(old: str, new: Renamed) -> Callable[[F], F]:
    """Return a decorator that lets a function take a keyword argument by its old name, too.

    Raises:
        TypeError: A call gives both names.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            if old in given:
                if new.name in given:
                    raise TypeError(f"{function.__name__}() takes {new.name} or its old name {old}, not both.")
                warn(f"The argument {old} of {function.__name__}()", new)
                given[new.name] = given.pop(old)
            return function(*args, **given)

        return call  # type: ignore[return-value]

    return decorate


def renamed_keys(given: Mapping[str, Any], renamed: Mapping[str, Renamed], kind: str) -> dict[str, Any]:
    """Return a mapping in which new names replace old ones: fields of JSON, variables, settings.

    A value under the new name takes precedence.

    Args:
        given: The mapping as it was read.
        renamed: Old name → new name.
        kind: What the names are, for the warning.
    """
    current = {name: value for name, value in given.items() if name not in renamed}
    for old in given.keys() & renamed.keys():
        warn(f"The {kind} {old}", renamed[old], above=2)
        current.setdefault(renamed[old].name, given[old])
    return current
