"""What several links to one page say together."""

from __future__ import annotations

import pytest

from graphbrain import Link
from graphbrain.frontier.reports.facts import LinkFacts

B = "http://b.org/"


@pytest.mark.parametrize(
    ("links", "told"),
    [
        ([B, B], {}),
        ([Link(B, rel="nofollow"), B], {"b": (None, None)}),
        ([B, Link(B, rel="nofollow")], {"b": (None, None)}),
        ([B, Link(B, anchor="text", rel="nofollow")], {"b": ("text", None)}),
        ([Link(B, rel="ugc nofollow"), Link(B, anchor="text", rel="nofollow")], {"b": ("text", "nofollow")}),
    ],
)
def test_one_link_that_may_be_followed_is_enough(links: list[str | Link], told: dict[str, object]) -> None:
    found = LinkFacts()
    for link in links:
        found.take("b", link)
    assert found.rows() == told
