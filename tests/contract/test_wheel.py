"""What a user installs: the wheel holds the statements, and finds them wherever it lies."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from graphbrain.graph.statements import FOLDER, names
from tests.contract.source import ROOT

UNREACHABLE = ("No matching distribution found for hatchling", "Failed to establish a new connection")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout. Without hatchling and without a registry there is none, and it says so."""
    folder = tmp_path_factory.mktemp("wheel")
    own = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *own, "-w", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if built.returncode != 0 and any(words in built.stderr for words in UNREACHABLE):
        pytest.skip("THE WHEEL WAS NOT BUILT: hatchling is not installed and could not be fetched")
    assert built.returncode == 0, built.stderr[-2000:]
    (found,) = folder.glob("*.whl")
    return found


def test_it_holds_every_statement_and_what_the_package_reads(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"graphbrain/cypher/{path.relative_to(FOLDER).as_posix()}" for path in FOLDER.rglob("*.cypher")}
    wanted |= {
        f"graphbrain/graph/server/{path.name}" for path in (ROOT / "graphbrain" / "graph" / "server").glob("*.lock")
    }
    assert wanted | {"graphbrain/py.typed", "graphbrain/demo/web.py"} <= held


def test_it_holds_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"graphbrain"}


def test_statements_load_from_wherever_it_is_unpacked(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "some where"
    zipfile.ZipFile(wheel).extractall(site)
    program = (
        "from graphbrain.graph.statements import FOLDER, names, statement; "
        "print(FOLDER); print(len(names())); [statement(name) for name in names()]"
    )
    told = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines() == [str(site / "graphbrain" / "cypher"), str(len(names()))]


def test_its_command_is_graphbrain(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entries,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert "graphbrain = graphbrain.cli:main" in archive.read(entries).decode()
