"""Options of commands, made from the declarations of verbs (`graphbrain.base.options.verbs`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

import click

from graphbrain.base.numeric.bounds import LARGEST
from graphbrain.base.options.verbs import Option, options_of
from graphbrain.brain.brain import VERBS
from graphbrain.cli.common import Duration, F, Number, Size

__all__ = ["option", "options", "options_from", "or_word", "type_of"]


def options(verb: str, *names: str, helps: Mapping[str, str] | None = None, **flags: str) -> Callable[[F], F]:
    """Return a decorator that gives a command options.

    Args:
        verb: The verb that declares them.
        names: The options that the command has, in this order.
        helps: Other help texts than those of the verb, by name.
        flags: A short option for a name, as in `limit="-n"`.
    """
    declared = VERBS[verb].arguments
    return _together(option(declared[name], (helps or {}).get(name), flags.get(name)) for name in names)


def options_from(kind: type, first: str, last: str) -> Callable[[F], F]:
    """Return a decorator that gives a command the options which the fields of a dataclass declare, from one to
    another."""
    declared = list(options_of(kind).values())
    names = [each.name for each in declared]
    return _together(option(each) for each in declared[names.index(first) : names.index(last) + 1])


def _together(click_options: Iterable[Callable[[F], F]]) -> Callable[[F], F]:
    each_option = list(click_options)

    def give(command: F) -> F:
        for each in reversed(each_option):
            command = each(command)
        return command

    return give


def option(option: Option, text: str | None = None, short: str | None = None) -> Callable[[F], F]:
    """Return a decorator that gives a command this option; `text`: another help text than the declared one."""
    flag = option.flag or option.name.replace("_", "-")
    attributes: dict[str, Any] = {"help": text or option.sentence}
    if option.kind is bool:
        if option.optional:
            return click.option(f"--{flag}/--{option.off or f'not-{flag}'}", option.name, default=None, **attributes)
        off = f"/--no-{flag}" if option.default else ""
        return click.option(f"--{flag}{off}", option.name, is_flag=True, default=option.default, **attributes)
    if option.kind is str and not option.optional:
        attributes["default"] = option.default
    attributes |= {"type": type_of(option), "metavar": option.metavar, "multiple": option.many}
    return click.option(*([short] if short else []), f"--{flag}", option.name, **attributes)


def type_of(option: Option) -> Any:
    """Return the type of an option's value on the command line. A number that the room checks is any number. An option
    that stays as it is where it is not given takes 'none' for None."""
    # Values that are no numbers.
    if option.default is ...:
        return or_word(option.kind, "none")
    if option.kind is Path:
        return click.Path(file_okay=option.is_a != "folder", dir_okay=option.is_a != "file", path_type=Path)
    if option.words:
        return click.Choice(option.words)
    if option.kind is str:
        return str
    # Numbers, in their range.
    bounds = option.bounds
    if bounds is None or (option.kind is float and option.by_room):
        return option.kind
    most = None if bounds.most in (LARGEST, inf) else bounds.most
    if option.is_a in ("time", "size"):
        return Duration(bounds.least) if option.is_a == "time" else Size(int(bounds.least))
    if option.kind is int:
        return click.IntRange(int(bounds.least), None if most is None else int(most))
    return Number(bounds.least, most, min_open=bounds.above, max_open=bounds.below)


def or_word(kind: Callable[[str], float], word: str) -> Callable[[str], float | str]:
    """Return a reader of a number, or of the word for none."""

    def read(text: str) -> float | str:
        if text.lower() == word:
            return word
        try:
            return kind(text)
        except ValueError:
            raise click.BadParameter(f"give a number or '{word}', not {text!r}.") from None

    return read
