"""`graphbrain console` as a process of its own: an address for this machine, and a token that ends with it."""

from __future__ import annotations

import re
import signal
import subprocess
from urllib.parse import urlsplit

import httpx
import pytest

from graphbrain import Brain
from graphbrain.cli.beside import console_beside
from graphbrain.service import access
from tests.acceptance.service.test_killed import command, ended
from tests.plugin import PATIENCE, Neo4j, emptied, eventually
from tests.serving import bearer


def test_it_says_an_address_with_a_token_that_ends_with_it(neo4j: Neo4j) -> None:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        line, env = command(neo4j, "console", "--no-browser", "--role", "analyst")
        process = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with ended(process):
            assert process.stdout is not None
            said = process.stdout.readline().strip()
            page, token = said.split("#token=")
            assert urlsplit(page).hostname == "127.0.0.1" and urlsplit(page).path == "/console"
            me = httpx.get(page.replace("/console", "/v1/me"), headers=bearer(token)).json()
            assert me["role"] == "analyst" and me["name"].startswith("console-") and me["expires"] > brain.now()
            assert httpx.get(page, headers={"Host": "evil.example"}).status_code == 421
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        assert are_revoked(brain)


def test_it_ends_with_its_standard_input_where_that_is_asked_for(neo4j: Neo4j) -> None:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        line, env = command(neo4j, "console", "--no-browser", "--until-eof")
        process = subprocess.Popen(line, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with ended(process):
            assert process.stdin is not None and process.stdout is not None
            assert b"#token=" in process.stdout.readline()
            process.stdin.close()
            assert process.wait(PATIENCE) == 0
        assert are_revoked(brain)


def test_the_console_of_a_crawl_ends_with_it(
    neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROWSER", "true")  # the command of this name does nothing
    connection = {"uri": neo4j.uri, "user": neo4j.user, "password": neo4j.password, "crawl": "test"}
    said = ""

    def address() -> re.Match[str] | None:
        nonlocal said
        said += capfd.readouterr().err
        return re.search(r"(http://127\.0\.0\.1:\d+/console)#token=\S+\n", said)

    with emptied(neo4j, delay_seconds=0.0) as brain:
        with console_beside(connection, None):
            found = eventually(address, "the address of the console")
            assert found is not None
            assert httpx.get(found[1]).status_code == 200 and not are_revoked(brain)
        with pytest.raises(httpx.ConnectError):
            httpx.get(found[1])
        assert are_revoked(brain)


def are_revoked(brain: Brain) -> bool:
    """Are the tokens of all consoles revoked?"""
    found = [each for each in access.grants(brain.graph) if each.name.startswith("console-")]
    assert found
    return all(each.revoked is not None for each in found)
