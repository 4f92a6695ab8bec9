"""An old name works, with a warning that names the new one and the version."""

from __future__ import annotations

import warnings

import pytest

from graphbrain import settings
from graphbrain.runtime.deprecated import Renamed, renamed_argument, renamed_keys

NEW = Renamed("pages", "0.3.0")
EPS = {"epsilon": Renamed("eps", "0.3.0")}


@renamed_argument("count", NEW)
def doubled(*, pages: int) -> int:
    return 2 * pages


def test_an_argument_is_taken_by_its_old_name() -> None:
    with pytest.warns(
        DeprecationWarning, match=r"^The argument count of doubled\(\) is deprecated .* 0\.3\.0: use pages"
    ) as seen:
        assert doubled(count=2) == 4  # type: ignore[call-arg]
    assert seen[0].filename == __file__
    with pytest.raises(TypeError, match="not both"):
        doubled(count=2, pages=2)  # type: ignore[call-arg]


def test_the_new_name_warns_of_nothing_and_goes_first() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert doubled(pages=3) == 6
        assert renamed_keys({"pages": 1}, {"count": NEW}, "field") == {"pages": 1}
    with pytest.warns(DeprecationWarning, match="^The field count "):
        assert renamed_keys({"count": 2, "pages": 1, "a": 0}, {"count": NEW}, "field") == {"pages": 1, "a": 0}


def test_a_setting_is_read_by_its_old_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RENAMED", EPS)
    with pytest.warns(DeprecationWarning, match="^The variable GRAPHBRAIN_EPSILON .* use GRAPHBRAIN_EPS"):
        assert settings.Settings.read(environ={"GRAPHBRAIN_EPSILON": ".5"}).eps == 0.5
    with pytest.warns(DeprecationWarning, match="^The setting epsilon .* use eps"):
        assert settings.Settings.read(environ={}, epsilon=0.25).eps == 0.25
    with pytest.warns(DeprecationWarning, match="^The setting epsilon "):
        assert settings.changes({"epsilon": 0.125}) == {"eps": 0.125}


def test_each_old_name_of_a_setting_is_old_and_has_a_new_one() -> None:
    assert not settings.RENAMED.keys() & settings.Settings.names().keys()
    assert {new.name for new in settings.RENAMED.values()} <= settings.Settings.names().keys()
