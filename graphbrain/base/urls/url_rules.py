"""Rules for URLs: the values of the settings `intervals` and `weights`.

A text has one rule in each part between semicolons or newlines: a regular expression that a URL must contain, and a
number after the last space.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from graphbrain.base.errors import SettingsError
from graphbrain.base.urls.host_rules import texts_of_rules
from graphbrain.base.urls.patterns import Patterns, check, text_of

__all__ = ["NO_RULES", "UrlRules", "check_new", "url_rules"]

NUMBERS = {"intervals": (1.0, 1e9 * 86_400.0, "/news/ 3600"), "weights": (1e-6, 1e6, "/tag/ .1")}
"""Setting → the least and the largest number of a rule, and an example. The numbers of `intervals` are seconds."""


class UrlRule(NamedTuple):
    """A rule: the regular expression as it is written, and the number that holds for URLs that contain it."""

    pattern: str
    number: float


class UrlRules:
    """Rules for URLs.

    Args:
        name: The setting, for errors.
        rules: The rules in their order.

    Raises:
        SettingsError: A pattern is no regular expression; the message names it.
    """

    def __init__(self, name: str, rules: tuple[UrlRule, ...]) -> None:
        self.rules = rules
        # Most URLs match no rule: one search finds that.
        self._any = Patterns(name, [rule.pattern for rule in rules])
        self._each = [(Patterns(name, [rule.pattern]), rule) for rule in rules]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UrlRules) and self.rules == other.rules

    def __hash__(self) -> int:
        return hash(self.rules)

    def __bool__(self) -> bool:
        return bool(self.rules)

    def matching(self, url: str) -> Iterator[UrlRule]:
        """Yield the rules whose patterns this URL contains, in their order."""
        if self._any.hold(url):
            yield from (rule for patterns, rule in self._each if patterns.hold(url))

    def first(self, url: str) -> float | None:
        """Return the number of the first rule that matches; None if no rule does."""
        return next((rule.number for rule in self.matching(url)), None)

    def product(self, url: str) -> float:
        """Return the product of the numbers of all rules that match; 1 if no rule does."""
        return math.prod(rule.number for rule in self.matching(url)) if self.rules else 1.0


NO_RULES = UrlRules("", ())


@lru_cache(maxsize=64)
def url_rules(name: str, text: str) -> UrlRules:
    """Return the rules in the text of this setting.

    Raises:
        SettingsError: A part of the text is no rule; the message quotes it.
    """
    return UrlRules(name, tuple(_rule(name, part) for part in texts_of_rules(name, text)))


def check_new(settings: Mapping[str, Any]) -> None:
    """Test the rules in new settings. Raise SettingsError for rules that cannot be read, or a pattern that takes too
    long."""
    for name in NUMBERS.keys() & settings.keys():
        check(name, text_of(rule.pattern for rule in url_rules(name, str(settings[name])).rules))


def _rule(name: str, part: str) -> UrlRule:
    least, most, example = NUMBERS[name]
    # The number follows the last space, since a pattern may have spaces.
    pattern, _, text = part.rpartition(" ")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not pattern.strip() or not least <= number <= most:
        raise SettingsError(
            f"{name} must have rules like {example!r}, a regular expression and a number from {least:g} to {most:g}, "
            f"not {part!r:.200}."
        )
    return UrlRule(pattern.strip(), number)
