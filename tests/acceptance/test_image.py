"""The steps of docker/Dockerfile in a bare virtual environment, and the commands of its containers, without Docker."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name

from tests.acceptance.service.test_killed import ended, free_port
from tests.contract.source import ROOT
from tests.plugin import Neo4j, emptied, eventually

DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
SERVICE = yaml.safe_load((ROOT / "docker" / "compose.yml").read_text(encoding="utf-8"))["services"]["service"]
REGISTRY = re.compile("PIP_|SSL_|(?i:https?|no|all)_proxy")
"""Variables of the environment by which pip finds its packages."""


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and their arguments."""
    lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
    return [(kind, rest) for kind, _, rest in (line.partition(" ") for line in lines)]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands that the image has."""
    top = tmp_path_factory.mktemp("image")
    subprocess.run([sys.executable, "-m", "venv", str(top / "venv")], check=True)
    environment = {"PATH": f"{top / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(top)}
    environment |= {name: value for name, value in os.environ.items() if REGISTRY.match(name)}
    for kind, rest in steps():
        if kind == "ENV":
            environment |= dict(word.split("=", 1) for word in shlex.split(rest))
        elif kind == "COPY":
            *sources, target = rest.split()
            _copy(sources, top / target.removeprefix("/"), whole=target.endswith("/"))
        elif kind == "RUN":
            for command in rest.split(" && "):
                if not command.startswith("useradd "):  # the system's users are not the test's
                    subprocess.run(command.replace("/src", str(top / "src")), shell=True, env=environment, check=True)
    return top / "venv" / "bin"


def _copy(sources: list[str], target: Path, *, whole: bool) -> None:
    for source in (ROOT / name for name in sources):
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target if whole else target.parent)


def _versions(text: str) -> dict[str, str]:
    """Name → version of lines as pip writes them."""
    lines = re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


@pytest.mark.long
def test_the_image_has_what_its_containers_run(image: Path, neo4j: Neo4j, tmp_path: Path) -> None:
    """Its packages are those that are pinned, nothing of the checkout is needed, and the service answers."""
    pins = _versions((ROOT / "docker" / "constraints.txt").read_text(encoding="utf-8"))
    listed = subprocess.run([image / "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True)
    found = _versions(listed.stdout)
    assert {name: found.get(name) for name in pins} == pins
    with emptied(neo4j):
        port = free_port()
        command = [str(image / "graphbrain"), "serve", "--port", str(port), "--quiet"]
        assert SERVICE["command"][0] == "serve" and SERVICE["command"][-1] == "--quiet"
        settings = {"URI": neo4j.uri, "USER": neo4j.user, "PASSWORD": neo4j.password, "CRAWL": "test"}
        environment = {"HOME": str(tmp_path)} | {f"GRAPHBRAIN_{name}": value for name, value in settings.items()}
        service = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
        with ended(service):
            check = SERVICE["healthcheck"]["test"][-1].replace(":8770/", f":{port}/")
            asked = [str(image / "python"), "-c", check]
            eventually(lambda: subprocess.run(asked, capture_output=True).returncode == 0, "its health", service)
            service.terminate()
            assert service.wait(60) == 0
