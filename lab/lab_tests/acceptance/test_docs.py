"""The pages show commands of the laboratory that are understood, and its page names all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphbrain.cli.commands import LABORATORY
from graphbrain_lab.cli.benches import bench
from tests.acceptance.test_readme import commands, first_column, understood
from tests.documents import built, section


@pytest.mark.parametrize("command", commands(laboratory=True))
def test_a_command_is_understood(command: str, tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()  # the place of DIR
    understood(command, tmp_path)


def test_the_page_names_all_commands_and_measures() -> None:
    cells = first_column(section("reference/laboratory.md", "Its commands"))
    assert {name for cell in cells for name in re.findall(r"`([\w-]+)[^`]*`", cell)} == set(LABORATORY)
    cells = first_column(section("reference/laboratory.md", "Its measures"))
    assert {name for cell in cells for name in re.findall(r"`bench ([\w-]+)[^`]*`", cell)} == set(bench.commands)
    shown = built("reference/laboratory.md")
    assert all(f":prog: graphbrain {name}\n" in shown for name in LABORATORY)
