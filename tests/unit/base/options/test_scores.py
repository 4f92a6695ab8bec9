"""The options of a ranking are checked by its method."""

from __future__ import annotations

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.options.scores import BY_METHOD, RankDue, RankOptions, RankRun, checked, checked_every


@pytest.mark.parametrize("method", METHODS)
def test_defaults_are_those_of_the_method(method: str) -> None:
    found = checked(RankOptions(method))
    damped, iterated = "damping" in BY_METHOD[method], method != "salsa"
    assert (found.damping, found.tolerance, found.iterations) == (
        0.85 if damped else None,
        1e-9 if iterated else None,
        10_000 if iterated else None,
    )
    assert checked(found) == found


def test_trusted_pages_are_one_or_more() -> None:
    assert checked(RankOptions("trustrank", trusted="http://a.example/")).trusted == ("http://a.example/",)
    assert checked(RankRun("trustrank", trusted=["a", "b"])).trusted == ("a", "b")
    with pytest.raises(BadInput, match="name a page"):
        checked(RankOptions("trustrank", trusted=[]))


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_an_option_of_another_method_is_refused(damping: float) -> None:
    with pytest.raises(BadInput, match=r"^damping is for pagerank, personalised, trustrank\.$"):
        checked(RankOptions("hits", damping=damping))


def test_a_value_out_of_range_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^top must be from 0 to 1000000\.$"):
        checked(RankRun("opic", top=-1))
    with pytest.raises(BadInput, match="1 second"):
        checked_every(RankDue("opic", 0.5))
    assert checked_every(RankDue("opic")).every == 3_600.0
