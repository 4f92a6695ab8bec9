"""The command line starts without the packages that only some commands need, and without the other commands."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import graphbrain.cli
from graphbrain.cli.app import cli
from graphbrain.cli.commands import LABORATORY, SECTIONS, CommandsOnUse, Entry
from graphbrain.cli.common import Plain

HEAVY = (
    *("numpy", "scipy", "neo4j", "rich", "idna", "lxml", "fastapi", "httpx", "scrapy", "email", "json"),
    *("importlib.metadata", "subprocess", "asyncio", "graphbrain.base.settings", "graphbrain.brain.brain"),
    *("graphbrain.base.model", "graphbrain.base.options", "graphbrain.base.numeric"),
)
"""What takes a part of the start that a user of `--help` notices."""
WITHOUT_COMMANDS = {f"graphbrain.cli.{name}" for name in ("app", "commands", "common")}


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a process has loaded once it has run the command line."""
    code = (
        "import sys\nfrom graphbrain.cli import main\n"
        f"try: main({list(arguments)})\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_the_command_line_loads_nothing_heavy() -> None:
    for option in ("--version", "--help"):
        loaded = loaded_by(option)
        assert not loaded & set(HEAVY)
        assert {name for name in loaded if name.startswith("graphbrain.cli.")} == WITHOUT_COMMANDS
        assert {name for name in loaded if name.startswith("graphbrain_lab.")} <= {"graphbrain_lab.commands"}


def test_the_core_loads_no_library_that_reads_requests() -> None:
    """Pydantic is for the service and its clients: a crawler that uses `Brain` does not wait for it."""
    code = "import sys, graphbrain; graphbrain.Brain; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "graphbrain.brain.brain" in loaded and not loaded & {"pydantic", "msgspec", "fastapi", "httpx"}


def test_a_command_loads_no_other_module_of_commands() -> None:
    entries = [entry for section in SECTIONS.values() for entry in section.values()]
    modules = {f"{entry.package}.{entry.module}" for entry in entries if isinstance(entry, Entry)}
    assert not loaded_by("stats", "--help") & modules
    assert loaded_by("top", "--help") & modules == {"graphbrain.cli.look"}


def commands_of(package: ModuleType) -> dict[str, Entry]:
    """Return the commands of a package's modules, as their table must have them."""
    made = {}
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for command in getattr(module, "COMMANDS", ()):
            assert not command.hidden and not command.deprecated and command.short_help is None
            first = inspect.cleandoc(command.help).split("\n\n")[0]
            made[command.name] = Entry(found.name, " ".join(first.split()), package.__name__)
    return made


def test_the_table_has_each_command_with_the_beginning_of_its_help() -> None:
    made = commands_of(graphbrain.cli)
    listed = [pair for title, entries in SECTIONS.items() for pair in entries.items() if title != "Laboratory"]
    plain = {name: entry for name, entry in listed if isinstance(entry, Plain)}
    assert dict(listed) == made | plain
    assert len(listed) == len(made) + len(plain), "each command has one section"
    assert all(cli.commands[name].help.partition("\n\n")[0] == entry.summary for name, entry in plain.items())
    assert list(cli.commands) == [name for entries in SECTIONS.values() for name in entries]


def test_without_the_laboratory_its_commands_name_the_installation(tmp_path: Path) -> None:
    """Its package is out of reach in a process that finds no spec of it."""
    hidden = "import importlib.util as u\nspec = u.find_spec\n"
    hidden += "u.find_spec = lambda name, *a: None if name == 'graphbrain_lab' else spec(name, *a)\n"
    for name in LABORATORY:
        code = f"{hidden}from graphbrain.cli import main\nmain(['{name}', 'x'])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2 and "pip install ./lab" in done.stderr and f"'{name}'" in done.stderr, done.stderr
    listed = subprocess.run(
        [sys.executable, "-c", f"{hidden}from graphbrain.cli import main\nmain(['--help'])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "\n  stats " in listed and not any(f"\n  {name} " in listed for name in LABORATORY)


def test_the_commands_of_the_group_are_looked_up_by_name() -> None:
    commands = CommandsOnUse({"top": Entry("look", "List the N best pages (10 unless given).")})
    assert "top" in commands and "find" not in commands and commands.get("find") is None
    assert isinstance(commands["top"], click.Command) and commands["top"].name == "top"
    assert commands["top"] is commands["top"]
    commands["other"] = click.Command("other")
    assert list(commands) == ["top", "other"]
    del commands["top"]
    assert len(commands) == 1


def test_a_shell_completes_commands_and_their_options() -> None:
    def completed(*words: str) -> list[str]:
        *before, last = words
        return [item.value for item in ShellComplete(cli, {}, "graphbrain", "X").get_completions(before, last)]

    assert completed("st") == ["stats"]
    assert completed("server", "sta") == ["start", "status"]
    assert completed("top", "--b") == ["--by"]


def test_an_unknown_command_is_answered_with_those_like_it() -> None:
    assert "'stats'" in CliRunner().invoke(cli, ["stat"]).output
