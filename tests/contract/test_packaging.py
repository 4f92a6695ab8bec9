"""What is shipped around the code: the source archive, the container files, and the script that the server runs."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib

import graphbrain
from graphbrain.server.installation import configuration
from graphbrain.server.lifecycle import NEO4J_VERSION
from graphbrain.settings import OF_OTHER_PARTS, Settings
from tests.contract.source import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMPOSE = (ROOT / "docker" / "compose.yml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "docker" / ".env.example").read_text(encoding="utf-8")
RUN = ROOT / ".ci" / "run"


def test_the_version_stands_twice_and_is_the_same() -> None:
    assert PROJECT["project"]["version"] == graphbrain.__version__
    assert f"## {graphbrain.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_source_archive_has_what_the_tests_and_the_container_need() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in ("graphbrain", "cypher", "tests", "docker", "docs", ".ci", "README.md", "LICENSE"):
        assert f"/{name}" in included
        assert (ROOT / name).exists()


def test_the_licence_is_the_whole_apache_licence() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert PROJECT["project"]["license"] == "Apache-2.0"


def test_the_container_runs_the_neo4j_that_the_local_server_runs() -> None:
    assert re.findall(r"image: neo4j:(\S+)", COMPOSE) == [f"{NEO4J_VERSION}-community"]


def test_the_containers_settings_of_neo4j_are_the_local_servers() -> None:
    """The image makes `NEO4J_db_tx__log_rotation_size` the setting `db.tx_log.rotation.size`."""
    ours = configuration(NEO4J_VERSION, (7687, 7474), (1024, 1024))
    given = re.findall(r"^ +NEO4J_([a-z]\w+): \"(.*)\"$", COMPOSE, re.MULTILINE)
    assert len(given) > 5
    for variable, value in given:
        name = variable.replace("__", "\0").replace("_", ".").replace("\0", "_")
        assert name in ours
        if "$" not in value:
            assert ours[name] == value


def test_the_containers_variables_are_explained_and_known() -> None:
    used = dict(re.findall(r"\$\{(\w+):[-?]([^}]*)\}", COMPOSE))
    explained = dict(re.findall(r"^(\w+)=(.*)$", EXAMPLE, re.MULTILINE))
    assert set(used) == set(explained)
    for name, value in explained.items():
        assert value == ("" if name == "GRAPHBRAIN_PASSWORD" else used[name])
    # What a container gets as GRAPHBRAIN_… must be a setting, or it would refuse to start.
    passed = set(re.findall(r"^ +(GRAPHBRAIN_\w+):", COMPOSE, re.MULTILINE)) - OF_OTHER_PARTS
    assert {name.removeprefix("GRAPHBRAIN_").lower() for name in passed} <= set(Settings.names())


def test_ports_are_published_on_loopback_only() -> None:
    published = re.findall(r"^ +- \"([^\"]*:\d+)\"$", COMPOSE, re.MULTILINE)
    assert len(published) == 5
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_the_image_gets_what_the_build_needs() -> None:
    copied = {word for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}
    assert copied == {"pyproject.toml", "README.md", "LICENSE", "graphbrain", "cypher"}
    ignored = (ROOT / "docker" / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    assert {line[1:] for line in ignored.splitlines() if line.startswith("!")} == copied


def test_the_servers_script_can_be_run_and_tells_of_a_failed_install() -> None:
    assert os.access(RUN, os.X_OK)
    subprocess.run(["bash", "-n", str(RUN)], check=True)
    ran = subprocess.run(
        [str(RUN)], env={**os.environ, "PYTHON": "no-such-python"}, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode != 0
    assert "no-such-python" in ran.stderr
