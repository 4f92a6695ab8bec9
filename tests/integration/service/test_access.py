"""Tokens: shown once, kept as digests, ended by time or by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput
from graphbrain.service import access
from tests.integration.conftest import HandClock

Ask = Callable[..., list[list[object]]]


@pytest.mark.usefixtures("answers_lost")
def test_a_token_from_its_making_to_its_end(brain: Brain, clock: HandClock, ask: Ask) -> None:
    graph = brain.graph
    for grant in access.grants(graph):
        access.revoke(graph, grant.name, clock())
    keeper = access.Gatekeeper(graph, clock)
    token = access.make(graph, "ann", "crawler", clock(), 60.0)
    other = access.make(graph, "bob", "analyst", clock())
    assert len({token, other}) == 2 and len(token) >= len(access.PREFIX) + 43, "256 bits"
    keeper.read()
    assert keeper.who(token) == next(grant for grant in access.grants(graph) if grant.name == "ann")
    assert keeper.who(other).role == "analyst"  # type: ignore[union-attr]
    for wrong in ("", token[:-1], token + "x", token.upper(), token[len(access.PREFIX) :], "x" * 1_000, "\ud800"):
        assert keeper.who(wrong) is None
    stored = ask("MATCH (t:AccessToken) RETURN t {.*}")
    assert token not in str(stored) and other not in str(stored)
    assert token not in repr(access.grants(graph)) and access.digest_of(token) not in repr(access.grants(graph))
    with pytest.raises(BadInput, match="There is a token 'ann'"):
        access.make(graph, "ann", "operator", clock())
    clock.pass_(60.0)
    assert not keeper.who(token).good(clock())  # type: ignore[union-attr]
    again = access.make(graph, "ann", "operator", clock())
    keeper.read()
    assert keeper.who(token) is None and keeper.who(again).role == "operator"  # type: ignore[union-attr]
    assert access.revoke(graph, "ann", clock())
    clock.pass_(1.0)
    assert not access.revoke(graph, "ann", clock()), "it was revoked before"
    keeper.read()
    assert keeper.who(again) is None and keeper.who(other) is not None
    assert ask("MATCH (t:AccessToken {name: 'ann'}) RETURN t.digest, t.revoked") == [[None, clock() - 1.0]]
    brain.clear()
    assert {grant.name for grant in access.grants(graph)} >= {"ann", "bob"}, "clear leaves them"
    for wrong_name in ("nobody", "a\nb", ""):
        with pytest.raises(BadInput):
            access.revoke(graph, wrong_name, clock())
    for given in (("x", "chief", None), ("x", "crawler", 0.0), ("x", "crawler", float("nan")), ("", "crawler", None)):
        with pytest.raises(BadInput):
            access.make(graph, given[0], given[1], clock(), given[2])  # type: ignore[arg-type]
