"""What is shipped around the code: the source archive, the container files, and the script that the server runs."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import graphbrain
from graphbrain.base.settings import OF_OTHER_PARTS, Settings
from graphbrain.cli.app import cli
from graphbrain.graph.server.installation import configuration
from graphbrain.graph.server.lifecycle import NEO4J_VERSION
from tests.constraints import FILE, needed
from tests.contract.source import ROOT, outside
from tests.plugin import container_facts

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMPOSE = (ROOT / "docker" / "compose.yml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
EXAMPLE = (ROOT / "docker" / ".env.example").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE)["services"]
RUN = ROOT / ".ci" / "run"
RELEASE = ROOT / ".ci" / "release"


def test_the_version_stands_twice_and_is_the_same() -> None:
    assert PROJECT["project"]["version"] == graphbrain.__version__
    assert f"## {graphbrain.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_source_archive_has_what_the_tests_and_the_container_need() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    folders = ("graphbrain", "cypher", "tests", "lab", "docker", "docs", ".ci")
    for name in (*folders, "conftest.py", "README.md", "LICENSE", "SECURITY.md"):
        assert f"/{name}" in included
        assert (ROOT / name).exists()


def test_the_laboratory_is_of_the_same_version() -> None:
    laboratory = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = PROJECT["project"]["version"]
    assert laboratory["version"] == version
    wanted = [*laboratory["dependencies"], *chain(*laboratory["optional-dependencies"].values())]
    of_product = [text for text in wanted if text.startswith("graphbrain-crawler")]
    assert of_product and all(text.endswith(f"=={version}") for text in of_product)


def test_each_dependency_of_the_core_is_named_with_a_module_that_uses_it() -> None:
    """CONTRIBUTING.md has a table of them; neo4j-rust-ext and tzdata have no module of their own."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| `graphbrain/([\w/]+)\.py`:", text, re.MULTILINE))
    core = {re.match(r"[\w-]+", each)[0] for each in PROJECT["project"]["dependencies"]}  # type: ignore[index]
    assert rows.keys() == core
    for name, module in rows.items():
        wanted = {"neo4j-rust-ext": "neo4j", "tzdata": "zoneinfo"}.get(name, name)
        assert wanted in outside(module.replace("/", ".")), name


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
        assert value == ("''" if name.endswith("_PASSWORD") else used[name])
    # What a container gets as GRAPHBRAIN_… must be a setting, or it would refuse to start.
    passed = set(re.findall(r"^ +(GRAPHBRAIN_\w+):", COMPOSE, re.MULTILINE)) - OF_OTHER_PARTS
    assert {name.removeprefix("GRAPHBRAIN_").lower() for name in passed} <= set(Settings.names())


def test_each_container_is_looked_after_and_bounded() -> None:
    for name, service in SERVICES.items():
        assert service["healthcheck"]["test"] and service["mem_limit"] and service["restart"], name
        assert "cypher-shell" not in str(service["healthcheck"]), "that starts a Java machine each time"
        pinned = service["image"].partition(":")[2] or service.get("build")
        assert pinned and pinned != "latest", name
    of_boards = SERVICES["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"]
    assert of_boards != SERVICES["neo4j"]["environment"]["GRAPHBRAIN_PASSWORD"]
    told = SERVICES["neo4j"]["environment"]["NEO4J_server_bolt_advertised__address"]
    assert SERVICES["neo4j"]["ports"][0] == f"{told}:7687", "what Browser is told is what is published"


def test_what_the_containers_run_are_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("worker", "service"):
        words = [re.sub(r"\$\{\w+:-(.*)\}", r"\1", word) for word in SERVICES[name]["command"]]
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None
        command.make_context(words[0], words[1:], resilient_parsing=False)
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, **_: asked.append(url))
    asked: list[str] = []
    for name in ("worker", "service"):
        exec(SERVICES[name]["healthcheck"]["test"][-1], {})
    assert asked == ["http://127.0.0.1:9464/metrics", "http://127.0.0.1:8770/readyz"]


@pytest.mark.parametrize("password", ["simple-enough", "with$dollar#and hash", 'a"b$$c`d`\\e'])
def test_the_health_check_of_neo4j_asks_a_query_as_whom_it_should(tmp_path: Path, password: str) -> None:
    """The command of the container, run by a shell, with a wget that writes down what it is told."""
    fake = tmp_path / "wget"
    fake.write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done >"$(dirname "$0")/told"\n', encoding="utf-8")
    fake.chmod(0o755)
    kind, command = SERVICES["neo4j"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {"PATH": path, "GRAPHBRAIN_PASSWORD": password}
    subprocess.run(["sh", "-c", command.replace("$$", "$")], env=environment, check=True)
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    who = base64.b64encode(f"neo4j:{password}".encode()).decode()
    assert f"Authorization: Basic {who}" in told and '{"statement": "RETURN 1"}' in told


def test_the_container_that_tests_fall_back_on_is_the_composed_one() -> None:
    """Without Docker: the class can be imported (warnings are errors), and it is told the image and the settings."""
    kind, image, variables = container_facts()
    assert kind.__module__.startswith("testcontainers.community.") and hasattr(kind, "get_connection_url")
    assert image == f"neo4j:{NEO4J_VERSION}-community"
    assert variables["NEO4J_db_lock_acquisition_timeout"] == "10s" and "NEO4J_AUTH" not in variables


def test_the_image_has_its_packages_pinned() -> None:
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", FILE.read_text(encoding="utf-8"), re.MULTILINE))
    missing = needed().keys() - pins.keys()
    assert not missing, "run: python -m tests.constraints"
    assert re.search(r"^FROM python:\d+\.\d+\.\d+-", DOCKERFILE, re.MULTILINE)
    assert "'/src[metrics,serve]'" in DOCKERFILE and "--constraint /src/constraints.txt" in DOCKERFILE


def test_ports_are_published_on_loopback_only() -> None:
    published = re.findall(r"^ +- \"([^\"]*:\d+)\"$", COMPOSE, re.MULTILINE)
    assert len(published) == 6
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_the_image_gets_what_the_build_needs() -> None:
    copied = {word for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}
    assert copied == {"pyproject.toml", "README.md", "LICENSE", "graphbrain", "cypher", "docker/constraints.txt"}
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


def test_a_release_is_refused_for_a_tag_that_is_not_its_version() -> None:
    assert os.access(RELEASE, os.X_OK)
    subprocess.run(["bash", "-n", str(RELEASE)], check=True)
    ran = subprocess.run(
        [str(RELEASE), "v99.0"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 1
    assert f"v{graphbrain.__version__}" in ran.stderr


def test_the_workflow_runs_the_script_on_every_python_that_is_promised() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    promised = [text.rpartition(" ")[2] for text in PROJECT["project"]["classifiers"] if ":: Python ::" in text]
    assert job["strategy"]["matrix"]["python"] == promised
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]


def test_the_hooks_are_the_checks_of_the_script() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    entries = {hook["entry"].removesuffix(" --force-exclude") for hook in hooks}
    checks = re.findall(r"^run ((?:ruff|mypy).*)$", RUN.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(checks) <= entries
