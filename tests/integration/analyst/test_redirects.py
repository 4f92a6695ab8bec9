"""Questions about redirects on a web of little else."""

from __future__ import annotations

from graphbrain import Brain, Fetched
from graphbrain.analyst.questions import ask
from tests.integration.analyst.webs import B


def test_a_circle_of_redirects_is_told_once_and_a_chain_that_leads_into_it_is_marked(brain: Brain) -> None:
    brain.seed([f"{B}/"])
    for begin, end in (("2", "3"), ("3", "1"), ("1", "2"), ("in", "2"), ("way", "in")):
        brain.report([Fetched(f"{B}/{begin}", redirected_to=f"{B}/{end}")])
    chains = [
        (row[1], [url.removeprefix(f"{B}/") for url in row[2]]) for row in ask(brain.graph, "redirect-chains").rows
    ]
    assert chains == [(True, ["way", "in", "2", "3", "1", "2"]), (True, ["1", "2", "3", "1"])]
    assert {row[0] for row in ask(brain.graph, "redirects").rows} == {0}, "no page spells the old address"
