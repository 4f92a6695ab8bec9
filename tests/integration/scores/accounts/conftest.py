"""Accounts of OPIC are counted push by push: the modules that do so have no other account beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphbrain import Brain

OPIC_ALONE = {"test_accounts", "test_classic", "test_pushes", "test_settlement", "test_spending"}
VALUE = "flow^.2 authority plain_path novelty^.6"
"""The default until live_pagerank came into it."""


@pytest.fixture
def make_brain(make_brain: Callable[..., Brain], request: pytest.FixtureRequest) -> Callable[..., Brain]:
    """The fixture of this name; live PageRank, which has pushes of its own, is kept only where a test asks for it."""
    if request.module.__name__.rpartition(".")[2] not in OPIC_ALONE:
        return make_brain

    def make(**settings: Any) -> Brain:
        return make_brain(**{"value": VALUE, **settings})

    return make
