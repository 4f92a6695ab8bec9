"""Which Java keeps a cache, under which name, and who makes it when."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain.graph.server import java_cache


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache of its own."""
    monkeypatch.setattr(java_cache.platformdirs, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    monkeypatch.delenv(java_cache.VARIABLE, raising=False)
    return tmp_path / "cache"


def _java(folder: Path, release: str = 'JAVA_VERSION="25.0.2"\n') -> str:
    """The program of a Java home that looks like one."""
    (folder / "lib" / "server").mkdir(parents=True)
    (folder / "lib" / "server" / java_cache._LIBRARY).write_bytes(b"machine")
    (folder / "release").write_text(release)
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@pytest.fixture
def jars(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.jar", tmp_path / "b.jar"]
    for path in paths:
        path.write_bytes(b"x")
    return paths


def test_one_file_for_a_java_and_its_jars(tmp_path: Path, cache: Path, jars: list[Path]) -> None:
    here = java_cache.file_for(_java(tmp_path / "one"), jars)
    assert here is not None and here.parent == cache
    # The same build in another place (another virtual environment) is the same Java.
    assert java_cache.file_for(_java(tmp_path / "two"), jars) == here
    assert java_cache.file_for(_java(tmp_path / "three", 'JAVA_VERSION="26"\n'), jars) != here
    assert java_cache.file_for(str(tmp_path / "one" / "bin" / "java"), jars[:1]) != here
    os.utime(jars[0], (1, 1))  # Java would refuse the file: the jar is another
    assert java_cache.file_for(str(tmp_path / "one" / "bin" / "java"), jars) != here


@pytest.mark.parametrize(
    "release", ['JAVA_VERSION="24.0.1"\n', 'JAVA_VERSION="25"\nJVM_VARIANT="Openj9"\n', "nothing\n"]
)
def test_not_every_java_keeps_one(tmp_path: Path, jars: list[Path], release: str) -> None:
    assert java_cache.file_for(_java(tmp_path / "home", release), jars) is None


def test_none_without_a_home_or_where_it_is_switched_off(
    tmp_path: Path, jars: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    java = _java(tmp_path / "home")
    assert java_cache.file_for(str(tmp_path / "nothing"), jars) is None
    (tmp_path / "home" / "release").unlink()
    assert java_cache.file_for(java, jars) is None
    again = _java(tmp_path / "again")
    assert java_cache.file_for(again, jars) is not None
    monkeypatch.setenv(java_cache.VARIABLE, "off")
    assert java_cache.file_for(again, jars) is None
    assert java_cache.options(again, jars) == []


def test_it_is_used_once_it_is_there(tmp_path: Path, jars: list[Path]) -> None:
    java = _java(tmp_path / "home")
    file = java_cache.file_for(java, jars)
    assert file is not None and java_cache.options(java, jars) == []
    file.parent.mkdir()
    file.write_bytes(b"learnt")
    os.utime(file, (1, 1))
    assert f"-XX:AOTCache={file}" in java_cache.options(java, jars)
    assert file.stat().st_mtime > 1  # it counts as used


def test_what_is_made_is_there_as_a_whole_or_not_at_all(cache: Path) -> None:
    file = cache / "java-1.aot"
    with pytest.raises(OSError), java_cache.being_made(file) as part:
        assert part is not None
        part.write_bytes(b"hal")
        raise OSError("no room")
    lock = cache / "java.lock"
    assert list(cache.iterdir()) == [lock]
    with pytest.raises(KeyboardInterrupt), java_cache.being_made(file) as part:
        assert part is not None
        part.write_bytes(b"hal")
        raise KeyboardInterrupt
    assert list(cache.iterdir()) == [lock]
    with java_cache.being_made(file) as part:
        assert part is not None
        part.write_bytes(b"whole")
    assert set(cache.iterdir()) == {file, lock} and file.read_bytes() == b"whole"
    with java_cache.being_made(file) as part:
        assert part is None  # somebody has made it


def test_one_makes_it_at_a_time(cache: Path) -> None:
    file = cache / "java-1.aot"
    other = """
import sys; from pathlib import Path; from graphbrain.graph.server import java_cache
print("asks", flush=True)
with java_cache.being_made(Path(sys.argv[1])) as part: print(part)
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with java_cache.being_made(file) as part:
        assert part is not None
        asking = subprocess.Popen([sys.executable, "-c", other, str(file)], stdout=subprocess.PIPE, text=True, env=env)
        assert asking.stdout is not None and asking.stdout.readline() == "asks\n"
        part.write_bytes(b"whole")
    assert asking.communicate(timeout=60)[0] == "None\n"  # it has waited, and found it made


def test_what_nobody_has_used_for_long_goes(cache: Path) -> None:
    cache.mkdir()
    for name, age in (("java-old.aot", 2), ("java-new.aot", 0), ("verified.json", 2)):
        (cache / name).touch()
        past = (cache / name).stat().st_mtime - age * java_cache.UNUSED_SECONDS
        os.utime(cache / name, (past, past))
    with java_cache.being_made(cache / "java-1.aot") as part:
        assert part is not None
        part.touch()
    assert {path.name for path in cache.iterdir()} == {"java-1.aot", "java-new.aot", "java.lock", "verified.json"}
