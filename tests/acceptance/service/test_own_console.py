"""`graphbrain console` as a process of its own: an address for this machine, and a token that ends with it."""

from __future__ import annotations

import signal
import subprocess
from urllib.parse import urlsplit

import httpx

from graphbrain.service import access
from tests.acceptance.service.test_killed import command, ended
from tests.conftest import PATIENCE, Neo4j, emptied
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
        grant = next(each for each in access.grants(brain.graph) if each.name == me["name"])
        assert grant.revoked is not None
