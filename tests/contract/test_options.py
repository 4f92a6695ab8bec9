"""Each option is declared once: signatures, commands, requests and pages have those of the option classes."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click
import pytest

from graphbrain import AsyncClient, Brain, Client
from graphbrain.cli.app import cli
from graphbrain.cli.declared import type_of
from graphbrain.numeric.methods import SETTLED_TO
from graphbrain.options.declare import Option, options_of
from graphbrain.options.hosts import HostFilter
from graphbrain.options.pages import FindOptions, LinkFilter, PageFilter, TopOptions
from graphbrain.options.scores import RankDue, RankOptions, RankRun, SettleOptions
from graphbrain.service import long_work, looking
from tests.contract.source import ROOT

VERBS: dict[str, type] = {
    "rank": RankRun,
    "rank_if_due": RankDue,
    "settle": SettleOptions,
    "find": FindOptions,
    "dump_pages": PageFilter,
    "dump_links": LinkFilter,
    "top": TopOptions,
    "hosts": HostFilter,
}
"""Verb → the class that declares its options."""
CALLBACKS = {"self", "progress", "stop"}
OTHER_DEFAULTS = {(Brain, "settle", "tolerance"): SETTLED_TO, (Client, "hosts", "count"): 1_000}
"""Defaults that a signature states where the class has None, which stands for them."""
REQUESTS = {
    **dict.fromkeys(("find", "dump_pages", "dump_links", "top", "hosts"), looking),
    **dict.fromkeys(("rank", "rank_if_due", "settle"), long_work),
}
COMMANDS: dict[tuple[str, ...], tuple[type, set[str]]] = {
    ("rank",): (RankRun, {"method", "write", "warm"}),
    ("spark", "rank"): (RankOptions, {"method", "tolerance"}),
    ("settle",): (SettleOptions, {"if_cheaper"}),
    ("spark", "settle"): (SettleOptions, {"if_cheaper"}),
    ("find",): (FindOptions, {"text"}),
    ("top",): (TopOptions, {"n"}),
    ("dump", "pages"): (PageFilter, set()),
    ("dump", "links"): (LinkFilter, set()),
    ("hosts",): (HostFilter, {"text", "outside"}),
}
"""Command → the class that declares its options, and those that it has as an operand, in its own words, or not."""


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("facade", [Brain, AsyncClient, Client])
def test_a_signature_has_the_options_of_its_class(facade: type, verb: str) -> None:
    parameters = inspect.signature(getattr(facade, verb)).parameters
    declared = options_of(VERBS[verb])
    assert set(parameters) - CALLBACKS == set(declared)
    for name, option in declared.items():
        found = parameters[name].default
        if found is not inspect.Parameter.empty:
            assert found == OTHER_DEFAULTS.get((facade, verb, name), option.default), name


@pytest.mark.parametrize("verb", VERBS)
def test_a_request_has_the_options_of_its_class(verb: str) -> None:
    route = next(each for each in REQUESTS[verb].router.routes if each.path == f"/v1/{verb}")  # type: ignore[attr-defined]
    annotations = inspect.get_annotations(route.endpoint, eval_str=True)  # type: ignore[attr-defined]
    model: Any = annotations.get("body") or annotations["query"].__origin__
    assert {name: field.description for name, field in model.model_fields.items()} == {
        name: option.help for name, option in options_of(VERBS[verb]).items()
    }


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_has_the_options_of_its_class(command: tuple[str, ...]) -> None:
    found: Any = cli
    for name in command:
        found = found.commands[name]
    kind, own = COMMANDS[command]
    given = {each.name: each for each in found.params if isinstance(each, click.Option)}
    for name, option in options_of(kind).items():
        if name not in own:
            assert given[name].help == option.sentence
            assert option.kind is bool or repr(given[name].type) == repr(
                click.Option(["--x"], type=type_of(option)).type
            )


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_the_verbs_has_the_options_of_the_class(verb: str) -> None:
    text = (ROOT / "docs" / "reference" / "verbs.md").read_text(encoding="utf-8")
    listed = re.search(rf"`{verb}\(([^)`]*)\)`", text)
    assert listed, verb
    named = {part.strip(" =*") for part in listed[1].split(",")} - CALLBACKS
    assert named == set(options_of(VERBS[verb]))


def test_an_option_has_a_meaning_that_ends_without_a_stop() -> None:
    texts = [each.help for kind in VERBS.values() for each in options_of(kind).values()]
    assert all(text and text[0].isupper() and not text.endswith(".") for text in texts)
    assert Option("limit", int, None, True, False, "End after this number", "all").sentence == (
        "End after this number (all)."
    )
