"""A site beside pages that its server invents without end: its own pages get their turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Fetched

ROOT = "http://a.example/"
FETCHES = 700


def links(url: str) -> list[str]:
    """A tree of pages, three behind each; and a tree of the same shape whose paths grow by a step each."""
    path = url.removeprefix(ROOT)
    if path == "nav":
        return []
    if path.startswith("x/"):
        return [ROOT, *(f"{url}/{step}" for step in "abc")]
    page = int(path[1:] or 0)
    return [ROOT, f"{ROOT}nav", f"{ROOT}x/1", *(f"{ROOT}p{3 * page + n}" for n in (1, 2, 3))]


@pytest.mark.parametrize("order", ["optimal", "best_first"])
def test_links_that_grow_do_not_take_the_turns_of_the_site(make_brain: Callable[..., Brain], order: str) -> None:
    brain = make_brain(order=order, delay_seconds=0.0)
    brain.seed([ROOT])
    fetched: list[str] = []
    while len(fetched) < FETCHES:
        claims = brain.next_urls(20)
        fetched += [claim.url for claim in claims]
        brain.report([Fetched(claim.url, links(claim.url), claim) for claim in claims])
        brain.tend(2)
    assert sum(url.startswith(f"{ROOT}p") for url in fetched) > 0.4 * FETCHES
