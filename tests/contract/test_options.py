"""Each option is declared once: signatures, commands, requests and pages have those of the option classes."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click
import pytest

from graphbrain import AsyncClient, Brain, Client
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.options.checks import LinkCheckOptions
from graphbrain.base.options.declare import Option, options_of
from graphbrain.base.options.dumps import LinkFile, PageFile
from graphbrain.base.options.hosts import HostFilter, HostOptions
from graphbrain.base.options.pages import FindOptions, LinkFilter, PageFilter, TopOptions
from graphbrain.base.options.scores import RankOptions, RankRun, SettleOptions
from graphbrain.base.options.upkeep import TendOptions
from graphbrain.cli.app import cli
from graphbrain.cli.declared import type_of
from graphbrain.service.declared import VERBS as DECLARED
from graphbrain.service.declared import request_of
from tests.documents import built

VERBS: dict[str, type] = {
    "rank": RankRun,
    "settle": SettleOptions,
    "find": FindOptions,
    "dump_pages": PageFilter,
    "dump_links": LinkFilter,
    "top": TopOptions,
    "hosts": HostFilter,
    "set_host": HostOptions,
    "tend": TendOptions,
    "check_links": LinkCheckOptions,
}
"""Verb → the class that declares its options."""
CALLBACKS = {"self", "progress", "stop"}
BESIDE = {"set_host": {"host"}, "tend": {"batch", "for_everybody", "passes", "pushes"}}
"""Verb → the operands that are no options, and the arguments of `Brain` alone."""
OTHER_DEFAULTS = {(kind, "settle", "tolerance"): SETTLED_TO for kind in (Brain, Client, AsyncClient)}
"""Defaults that a signature states where the class has None, which stands for them."""
COMMANDS: dict[tuple[tuple[str, ...], type], set[str]] = {
    (("rank",), RankRun): {"method", "write", "warm"},
    (("spark", "rank"), RankOptions): {"method", "tolerance"},
    (("settle",), SettleOptions): {"if_cheaper"},
    (("spark", "settle"), SettleOptions): {"if_cheaper"},
    (("find",), FindOptions): {"text"},
    (("top",), TopOptions): {"n"},
    (("dump", "pages"), PageFilter): set(),
    (("dump", "pages"), PageFile): set(),
    (("dump", "links"), LinkFilter): set(),
    (("dump", "links"), LinkFile): set(),
    (("hosts",), HostFilter): {"text", "outside"},
    (("host",), HostOptions): set(),
    (("tend",), TendOptions): {"pages"},
    (("check-links",), LinkCheckOptions): set(),
}
"""Command, and a class that declares its options → those that it has as an operand, in its own words, or not."""


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("facade", [Brain, AsyncClient, Client])
def test_a_signature_has_the_options_of_its_class(facade: type, verb: str) -> None:
    parameters = inspect.signature(getattr(facade, verb)).parameters
    declared = options_of(VERBS[verb])
    assert set(parameters) - CALLBACKS - BESIDE.get(verb, set()) == set(declared)
    for name, option in declared.items():
        found = parameters[name].default
        if found is not inspect.Parameter.empty:
            assert found == OTHER_DEFAULTS.get((facade, verb, name), option.default), name


@pytest.mark.parametrize("verb", VERBS)
def test_a_request_has_the_options_of_its_class(verb: str) -> None:
    model = request_of(DECLARED[verb])
    declared = options_of(VERBS[verb])
    assert set(model.model_fields) - BESIDE.get(verb, set()) == set(declared)
    assert {name: model.model_fields[name].description for name in declared} == {
        name: option.help for name, option in declared.items()
    }


def shape(kind: click.ParamType) -> str:
    """Return the type of an option's value as text; of one that a function reads, the function and what it returns."""
    if isinstance(kind, click.types.FuncParamType):
        return f"{kind.func.__qualname__}: {type(kind.func('1')).__name__}"
    return repr(kind)


@pytest.mark.parametrize(("path", "kind"), COMMANDS)
def test_a_command_has_the_options_of_its_class(path: tuple[str, ...], kind: type) -> None:
    command: Any = cli
    for name in path:
        command = command.commands[name]
    given = {each.name: each for each in command.params if isinstance(each, click.Option)}
    for name, option in options_of(kind).items():
        if name not in COMMANDS[path, kind]:
            assert given[name].help == option.sentence
            assert option.kind is bool or shape(given[name].type) == shape(
                click.Option(["--x"], type=type_of(option)).type
            )


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_the_verbs_has_the_options_of_the_class(verb: str) -> None:
    text = built("reference/verbs.md")
    listed = re.search(rf"`{verb}\(([^)`]*)\)`", text)
    assert listed, verb
    named = {part.strip(" =*") for part in listed[1].split(",")} - CALLBACKS - BESIDE.get(verb, set())
    assert named == set(options_of(VERBS[verb]))


def test_an_option_has_a_meaning_that_ends_without_a_stop() -> None:
    kinds = {*VERBS.values(), *(kind for _, kind in COMMANDS)}
    texts = [each.help for kind in kinds for each in options_of(kind).values()]
    assert all(text and text[0].isupper() and not text.endswith(".") for text in texts)
    assert Option("limit", int, None, True, False, "End after this number", "all").sentence == (
        "End after this number (all)."
    )
