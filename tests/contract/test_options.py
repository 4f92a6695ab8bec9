"""Each option is declared once, by its verb: commands and requests have it as the verb declares it."""

from __future__ import annotations

from typing import Any

import click
import pytest

from graphbrain.brain.brain import VERBS
from graphbrain.cli.app import cli
from graphbrain.cli.declared import type_of
from graphbrain.service.declared import request_of

COMMANDS: dict[tuple[str, ...], tuple[str, set[str]]] = {
    ("rank",): ("rank", {"method", "write", "warm"}),
    ("spark", "rank"): ("rank", {"method", "tolerance", "top", "write", "warm"}),
    ("settle",): ("settle", {"if_cheaper"}),
    ("spark", "settle"): ("settle", {"if_cheaper"}),
    ("find",): ("find", {"text"}),
    ("dump", "pages"): ("dump_pages", set()),
    ("dump", "links"): ("dump_links", set()),
    ("hosts",): ("hosts", {"text", "outside"}),
    ("host",): ("set_host", {"host"}),
    ("check-links",): ("check_links", set()),
}
"""Command → its verb, and the arguments that it has as an operand, in its own words, or not."""


@pytest.mark.parametrize("name", VERBS)
def test_a_request_has_the_arguments_of_its_verb(name: str) -> None:
    fields = request_of(VERBS[name]).model_fields
    arguments = VERBS[name].arguments
    assert {each: fields[each].description for each in fields} == {
        each: option.help or None for each, option in arguments.items()
    }


def shape(kind: click.ParamType) -> str:
    """Return the type of an option's value as text; of one that a function reads, the function and what it returns."""
    if isinstance(kind, click.types.FuncParamType):
        return f"{kind.func.__qualname__}: {type(kind.func('1')).__name__}"
    return repr(kind)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_has_the_options_of_its_verb(path: tuple[str, ...]) -> None:
    command: Any = cli
    for name in path:
        command = command.commands[name]
    given = {each.name: each for each in command.params if isinstance(each, click.Option)}
    verb, others = COMMANDS[path]
    for name, option in VERBS[verb].arguments.items():
        if name not in others:
            assert given[name].help == option.sentence
            assert option.kind is bool or shape(given[name].type) == shape(
                click.Option(["--x"], type=type_of(option)).type
            )


def test_an_option_of_a_command_has_a_meaning_that_ends_without_a_stop() -> None:
    for verb, others in COMMANDS.values():
        for option in VERBS[verb].arguments.values():
            assert option.name in others or (option.help[0].isupper() and option.help[-1] != "."), (verb, option.name)
