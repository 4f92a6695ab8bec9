"""The laboratory's table of commands, and the help of each, on one screen."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

import graphbrain
import graphbrain_lab.cli
from graphbrain.cli.app import cli
from graphbrain.cli.commands import LABORATORY, SECTIONS, Entry
from graphbrain_lab import commands
from graphbrain_lab.cli.benches import bench
from tests.contract.test_start import commands_of

SCREEN = 50
"""Lines."""


def test_the_table_has_each_command_with_the_beginning_of_its_help() -> None:
    table = {name: Entry(*entry, "graphbrain_lab.cli") for name, entry in commands.COMMANDS.items()}
    assert table == commands_of(graphbrain_lab.cli) == SECTIONS["Laboratory"]
    assert tuple(table) == LABORATORY


def test_it_has_the_version_of_the_product() -> None:
    assert graphbrain_lab.__version__ == graphbrain.__version__


@pytest.mark.parametrize("name", sorted(bench.commands))
def test_the_help_of_a_measure_fits_on_a_screen(name: str) -> None:
    shown = CliRunner().invoke(cli, ["bench", name, "--help"])
    assert shown.exit_code == 0 and len(shown.output.splitlines()) <= SCREEN
    assert isinstance(bench.commands[name], click.Command)


def test_a_measure_takes_no_other_ones_options() -> None:
    for words in (["claim", "--shape", "print"], ["worlds", "--seeds", "2"], ["traps", "file"], ["trust", "file"]):
        assert CliRunner().invoke(cli, ["bench", *words]).exit_code == 2
