"""Why nothing was handed out, in a sentence; and lists of hosts that get one more."""

from __future__ import annotations

import time
from typing import Any

import pytest

from graphbrain.base.errors import SettingsError
from graphbrain.base.model import Claims
from graphbrain.base.settings import added

NONE: dict[str, Any] = {"leased": 0, "waiting": 0, "retries": 0, "states": {}}


def test_why_there_are_no_claims() -> None:
    assert Claims(()).why(NONE) == "no page waits to be fetched"
    outside = NONE | {"states": {"outside": 3}}
    assert Claims(()).why(outside) == "no page waits to be fetched; 3 are outside the scope"
    busy = NONE | {"leased": 4, "waiting": 1_200, "retries": 2}
    said = Claims((), next_ready=time.time() + 86_400 * 3).why(busy)
    what = "4 held by a crawler, 1,200 waiting, 2 to be tried again"
    assert said.startswith(f"the pages left are {what}, the next one from 20")
    assert Claims((), next_ready=0.0).why(busy).endswith(" on")


def test_a_host_is_added_to_a_list() -> None:
    assert added("allow_hosts", "a.example b.example", "b.example c.example") == "a.example b.example c.example"
    assert added("deny_hosts", "a.example, b.example", "c.example") == "a.example b.example c.example"


@pytest.mark.parametrize(
    ("name", "before", "more", "words"),
    [
        ("delay_seconds", 1.0, "3", "is no list"),
        ("allow_hosts", "", "a.example", "all hosts are in the scope"),
        ("allow_hosts", "a.example", " ", "Give the hosts"),
    ],
)
def test_what_is_no_list_gets_nothing(name: str, before: Any, more: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        added(name, before, more)
