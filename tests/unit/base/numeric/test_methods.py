"""A value that is a product of live scores: what is one, and what is not."""

from __future__ import annotations

import pytest

from graphbrain.base.errors import SettingsError
from graphbrain.base.numeric.methods import Factor, factors, without
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.settings import Settings


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("flow^.85 authority^.15", {"flow": Factor(0.85), "authority": Factor(0.15)}),
        ("flow", {"flow": Factor(1.0, 0.0)}),
        ("  authority   in_links^2 ", {"authority": Factor(), "in_links": Factor(2.0)}),
        ("novelty>.25^.1", {"novelty": Factor(0.1, 0.25)}),
        ("authority>2 novelty>0.5", {"authority": Factor(1.0, 2.0), "novelty": Factor(1.0, 0.5)}),
        ("3*authority>2^.5", {"authority": Factor(0.5, 2.0, 3.0)}),
        (".5*flow authority", {"flow": Factor(times=0.5), "authority": Factor()}),
        ("0*flow", None),
        ("3 flow", None),
        ("*flow", None),
        ("9999999*flow", None),
        ("", None),
        ("own", None),
        ("hub", None),
        ("flow flow", None),
        ("flow^0", None),
        ("flow^11", None),
        ("flow^-1", None),
        ("flow^", None),
        ("flow*authority", None),
        ("flow pagerank", None),
        ("flow^1e9", None),
        ("novelty>^.1", None),
        ("novelty>0", None),
        ("novelty>1", None),
        ("novelty^.1>.25", None),
        ("novelty>-1", None),
        ("authority>9999999", None),
    ],
)
def test_factors(value: str, found: dict[str, Factor] | None) -> None:
    assert factors(value) == found


def test_a_setting_is_one_or_says_what_it_may_be() -> None:
    assert Settings.read(environ={}, value="in_links^.5 flow").value == "in_links^.5 flow"
    assert Settings.read(environ={}, value="hub").value == "hub"
    with pytest.raises(SettingsError, match="a product of powers of authority, flow, harvest, in_links"):
        Settings.read(environ={}, value="flow^.5 pagerank")


def test_pages_that_were_fetched_are_worth_their_authority_where_new_ones_are_worth_a_blend() -> None:
    assert (Rule(value="flow authority").standing_value, Rule(value="flow").flow.kept) == ("authority", True)
    assert (Rule(value="authority").blend, Rule(value="authority").flow.kept) == (None, False)
    assert (Rule(value="hub").standing_value, Rule(value="own").standing_value) == ("hub", "own")


def test_a_product_without_one_of_its_factors() -> None:
    assert without("3*authority 2*harvest>.1^2 novelty^.5", "harvest") == "3*authority novelty^.5"
    assert (without("harvest^2", "harvest"), without("own", "harvest")) == ("", "own")
