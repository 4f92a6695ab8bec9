"""The public surface changes only on purpose, is documented, and is the one of docs/reference/stability.md."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import graphbrain
from graphbrain.schedule import change_rate, optimal_revisits
from tests.contract import breaking, public_surface
from tests.contract.public_surface import MODULES, NOT_PROMISED, RECORDED, difference, surface
from tests.contract.source import ROOT, modules

PROJECT = (ROOT / "docs" / "reference" / "stability.md").read_text(encoding="utf-8")
TEXTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHORT = 8
"""Lines of a public method beyond which its name and its types cannot be all that there is to know."""


def test_the_surface_is_the_accepted_one() -> None:
    changes = difference()
    assert not changes, (
        "The public surface has changed:\n  "
        + "\n  ".join(changes)
        + "\nName what users must know in CHANGELOG.md, then run: python -m tests.contract.public_surface --write"
    )


def test_a_change_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "graphbrain.url", ())
    assert "-name graphbrain.url.spell" in difference()


def test_the_list_has_every_kind() -> None:
    kinds = {line.split(" ", 1)[0] for line in surface()}
    assert kinds >= {
        "name",
        "argument",
        "field",
        "command",
        "option",
        "setting",
        "path",
        "metric",
        "node",
        "question",
        "json",
    }
    assert RECORDED.read_text(encoding="utf-8").splitlines() == sorted(set(surface()))


def test_a_public_name_is_one_that_its_module_offers() -> None:
    for module, names in MODULES.items():
        here = importlib.import_module(module)
        assert set(names) <= set(here.__all__), module
        assert module.removeprefix("graphbrain").lstrip(".") in {"", *modules()}
    for whole in (graphbrain, change_rate, optimal_revisits):
        assert set(MODULES[whole.__name__]) == set(whole.__all__)


def test_all_names_of_the_errors_are_public() -> None:
    assert set(MODULES["graphbrain.errors"]) == set(importlib.import_module("graphbrain.errors").__all__)


def test_what_is_public_is_documented() -> None:
    missing = []
    for module, names in MODULES.items():
        for name in names:
            thing = getattr(importlib.import_module(module), name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            if not thing.__doc__:
                missing.append(f"{module}.{name}")
            members = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []
            missing += [
                f"{module}.{name}.{called}"
                for called, member in members
                if not called.startswith("_") and member.__module__.startswith("graphbrain") and not member.__doc__
                if len(inspect.getsource(member).splitlines()) > SHORT
            ]
    assert not missing


def test_what_is_not_promised_is_there() -> None:
    assert not [name for name in NOT_PROMISED if not hasattr(graphbrain.Brain, name)]


def test_the_page_of_the_project_names_every_public_module() -> None:
    promised = PROJECT.partition("## What stays as it is")[2].partition("\n## ")[0]
    assert not [module for module in MODULES if f"`{module}`" not in promised]
    assert "tests/contract/public_surface.py" in promised
    assert "DeprecationWarning" in promised


def test_no_page_names_a_module_that_does_not_exist() -> None:
    wrong = {
        f"{page.name}: {named}"
        for page in TEXTS
        for named in re.findall(r"`(graphbrain(?:\.\w+)+)`", page.read_text(encoding="utf-8"))
        if not _exists(named) and page.name != "figures.md"
    }
    assert not wrong


def _exists(dotted: str) -> bool:
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


def test_the_search_for_modules_finds_those_that_do_not_exist() -> None:
    assert _exists("graphbrain.scrapy.Addon")
    assert not _exists("graphbrain.beliefs")
    assert public_surface.__doc__


def test_the_comparison_with_a_release_counts_what_a_public_class_inherits_and_what_is_gone() -> None:
    public = breaking.homes()
    assert breaking.is_public("graphbrain.brain.analyse.Asking.ask(name)", public)
    assert breaking.is_public("graphbrain.base.urls.normalization.spell", public)
    assert not breaking.is_public("graphbrain.base.urls.normalization.normal", public)
    assert not breaking.is_public("graphbrain.brain.brain.Brain._session", public)
    before = ["name graphbrain.url.spell", "option graphbrain rank --damping", "argument graphbrain.url.spell.extra"]
    assert breaking.gone(before, ["option graphbrain rank --damping"]) == ["name graphbrain.url.spell: gone"]
