"""What lies between crawler, service and database: TLS, and a database that stops and comes again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import trustme

from graphbrain import Client, Fetched
from graphbrain.base.errors import ServiceRefused
from graphbrain.graph.server import lifecycle
from tests.acceptance.service.test_killed import ended, free_port, start
from tests.plugin import MEMORY_MB, PATIENCE, Neo4j, emptied, eventually
from tests.serving import serving, tokens

A = "http://a.org/"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A certificate for this machine, its key, and those of who has signed it."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    paths = {name: str(tmp_path / f"{name}.pem") for name in ("cert", "key", "ca")}
    certificate.cert_chain_pems[0].write_to_path(paths["cert"])
    certificate.private_key_pem.write_to_path(paths["key"])
    authority.cert_pem.write_to_path(paths["ca"])
    return paths


def test_by_tls_a_crawler_is_served_and_nobody_else(neo4j: Neo4j, files: dict[str, str]) -> None:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed([A])
        token, port = tokens(brain, "crawler")["crawler"], free_port()
        service = start(neo4j, port, "--host", "0.0.0.0", "--quiet", "--cert", files["cert"], "--key", files["key"])
        with ended(service):
            url = f"https://127.0.0.1:{port}"
            with Client(url, token, certificate=files["ca"]) as client:
                claims = client.next_urls(10)
                assert [claim.url for claim in claims] == [A]
                assert client.report([Fetched(A, [f"{A}b"], claims[0])])[0].accepted
            with (
                Client(url, token) as distrustful,
                pytest.raises(ServiceRefused, match=r"is not trusted .* certificate="),
            ):
                distrustful.next_urls(10)  # at once: it will not be trusted later
            with pytest.raises(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=10)


@pytest.mark.long
def test_a_database_that_stops_is_waited_for_and_nothing_is_lost(neo4j: Neo4j) -> None:
    if neo4j.data is None:
        pytest.skip("the tests run on a server that they have not started")
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed([A])
        token = tokens(brain, "crawler")["crawler"]
        with serving(brain) as url, httpx.Client(base_url=url, timeout=90) as http:
            with Client(url, token) as client:
                claims = client.next_urls(10)
                lifecycle.stop(neo4j.data)
                assert http.get("/healthz").status_code == 200
                assert http.get("/readyz").status_code == 503
                with ThreadPoolExecutor(1) as waiting:
                    report = waiting.submit(client.report, [Fetched(A, [f"{A}b"], claims[0])])
                    lifecycle.start(neo4j.data, version=neo4j.version, memory=MEMORY_MB // 2)
                    assert report.result(PATIENCE)[0].accepted
                assert [claim.url for claim in client.next_urls(10)] == [f"{A}b"]
                eventually(lambda: http.get("/readyz").status_code == 200, "the service's readiness")
        assert brain.audit(None).ok
