"""The benchmark of the service: it runs a service of its own, and what it counts was done. No time is looked at."""

from __future__ import annotations

import time

import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput
from graphbrain.service import access
from graphbrain_lab.bench import service
from tests.integration.conftest import HandClock


def test_service(brain: Brain, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.at = time.time()  # the service goes by the server's clock
    monkeypatch.setattr(service, "WARM_UP", 0.5)
    monkeypatch.setattr(service, "WAITING", 2_000)
    (found,) = service.service(brain, 3, 1.5, (2,))
    assert (found["measure"], found["clients"], found["n"]) == ("service", 3, 2)
    assert found["pages_per_second"] > 0 and found["requests_per_second"] > 0
    assert found["next_urls_ms_p99"] >= found["next_urls_ms_p50"] > 0 and found["report_ms_p50"] > 0
    assert brain.stats()["states"]["known"] >= found["pages_per_second"] * 1.5
    assert all(grant.revoked for grant in access.grants(brain.graph) if grant.name.startswith("bench-"))
    with pytest.raises(BadInput, match="empty brain"):
        service.service(brain, 1)
