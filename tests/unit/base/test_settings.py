"""Settings: arguments over variables over defaults, and one sentence for each that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from graphbrain.base.errors import SettingsError
from graphbrain.base.settings import OF_OTHER_PARTS, Settings, changes, checked_engine

INF, NAN = float("inf"), float("nan")


def read(environ: dict[str, str] | None = None, **arguments: Any) -> Settings:
    return Settings.read(environ=environ or {}, **arguments)


def test_defaults_need_nothing() -> None:
    settings = read()
    assert (settings.alpha, settings.eps, settings.order) == (0.15, 0.03, "optimal")
    assert settings.given == frozenset()


def test_arguments_go_over_variables_over_defaults() -> None:
    environ = {"GRAPHBRAIN_EPS": "0.5", "GRAPHBRAIN_CRAWL": "env"}
    settings = read(environ, crawl="argument")
    assert (settings.eps, settings.crawl, settings.max_links) == (0.5, "argument", 5_000)
    assert settings.given == {"eps", "crawl"}


def test_none_counts_as_not_given() -> None:
    settings = read({"GRAPHBRAIN_EPS": "0.5"}, eps=None)
    assert settings.eps == 0.5
    assert read(alpha=None).given == frozenset()


@pytest.mark.parametrize("variable", sorted(OF_OTHER_PARTS))
def test_the_variables_of_other_parts_are_no_typos(variable: str) -> None:
    assert read({variable: "x"}).given == frozenset()


def test_other_peoples_variables_are_left_alone() -> None:
    assert read({"NEO4J_URI": "x", "PATH": "y"}).uri == ""


@pytest.mark.parametrize("variable", ["GRAPHBRAIN_ALFA", "GRAPHBRAIN_", "GRAPHBRAIN_GIVEN"])
def test_an_unknown_variable_is_refused_by_name(variable: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        read({variable: "1"})


@pytest.mark.parametrize("name", ["alfa", "given", "clock"])
def test_an_unknown_argument_is_refused_by_name(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is not a setting; there are .*alpha"):
        read(**{name: 1})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("eps", "0.25", 0.25),
        ("max_links", "7", 7),
        ("auto_tend", "no", False),
        ("auto_tend", "ON", True),
        ("share", "1", True),
        ("order", "breadth_first", "breadth_first"),
    ],
)
def test_variables_are_text_in_the_settings_type(name: str, text: str, value: object) -> None:
    got = getattr(read({f"GRAPHBRAIN_{name.upper()}": text}), name)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eps", "much"),
        ("eps", INF),
        ("eps", NAN),
        ("eps", 10**400),
        ("max_links", 2.5),
        ("max_links", "2.5"),
        ("max_links", INF),
        ("max_links", [1]),
        ("auto_tend", "maybe"),
        ("crawl", 7),
        ("crawl", None.__class__),
    ],
    ids=lambda x: repr(x)[:20],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"{name} must be"):
        read(**{name: value})


OUT_OF_RANGE = {
    "alpha": (-0.1, 1.0),
    "eps": (0.0, 1.1),
    "intra_host_weight": (-0.5, 1.1, 0.3),
    "max_payees": (0,),
    "order": ("worst_first",),
    "delay_seconds": (-1.0, 90_000.0),
    "in_flight": (-1,),
    "lease_seconds": (0.5, 700_000.0),
    "limit_seconds": (0.5,),
    "max_links": (0,),
    "max_depth": (-1,),
    "max_errors": (0,),
    "crawl": ("", "  "),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in OUT_OF_RANGE.items() for value in values]
)
def test_a_value_out_of_range_is_refused_in_one_sentence(name: str, value: Any) -> None:
    with pytest.raises(SettingsError) as refused:
        read(**{name: value})
    text = str(refused.value)
    assert text.startswith(f"{name} must be ")
    assert repr(value) in text
    assert text.count(". ") == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("crawl", "x" * 201), ("crawl", "a\0b"), ("worker", "x" * 1_000_000), ("worker", "a\nb")),
        ("order", "x" * 300),
        *(("user_agent", "\ud800"), ("user_agent", "x" * 9_000), ("user_agent", "me\r\nCookie: x")),
        *(("allow_hosts", "\ud800.org"), ("deny_hosts", "x" * 1_000_001), ("deny_urls", "x" * 1_000_001)),
        *(("intervals", "/\udfff 60"), ("allow_urls", "\ud800"), ("password", "\ud800")),
        *(("max_links", 2**53), ("max_depth", 10**30), ("in_flight", 1e308), ("pages_per_host", -(2**63))),
        *(("limit_seconds", 1e308), ("max_errors", 10**400)),
    ],
    ids=lambda x: repr(x)[:20],
)
def test_what_the_database_cannot_hold_is_refused_in_a_short_sentence(name: str, value: Any) -> None:
    """Nor what everybody who uses the brain would have to read again and again."""
    with pytest.raises(SettingsError) as refused:
        read(**{name: value})
    text = str(refused.value)
    assert text.startswith(f"{name} must ")
    assert len(text) < 300
    assert text.isprintable()


def test_the_default_of_every_setting_is_possible() -> None:
    assert Settings().checked() == Settings()


def test_each_process_has_a_name_of_its_own() -> None:
    assert read().worker
    assert read().worker != read().worker
    assert read(worker="me").worker == "me"


def test_every_setting_has_a_kind_and_a_meaning() -> None:
    for name, (kind, default, meaning) in Settings.meanings().items():
        assert kind in ("client", "shared", "fixed"), name
        assert meaning
        assert type(default) in (str, int, float, bool)


def test_kinds_part_the_settings() -> None:
    kinds = [set(Settings.names(kind)) for kind in ("client", "shared", "fixed")]
    assert set().union(*kinds) == set(Settings.names())
    assert sum(map(len, kinds)) == len(Settings.names())


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(read(password="secret"))


def test_changes_are_in_the_settings_types() -> None:
    found = changes({"eps": "0.5", "max_links": 7.0})
    assert found == {"eps": 0.5, "max_links": 7} and type(found["max_links"]) is int


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"delay": 1}, "'delay' is not a setting; did you mean 'delay_seconds'?"),
        ({"crawl": "x"}, "crawl cannot be changed on a brain that exists."),
        ({"engine": "classic"}, "engine cannot be changed on a brain that exists; convert it with 'graphbrain engine"),
        ({"uri": "x"}, "uri cannot be changed on a brain that exists."),
        ({"eps": 0.5, "max_links": 1.5}, "max_links must be a whole number, not 1.5."),
    ],
)
def test_a_change_that_cannot_be_is_told_in_a_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as raised:
        changes(given)
    assert str(raised.value).startswith(words)


def test_there_are_two_engines() -> None:
    assert checked_engine("classic") == "classic"
    with pytest.raises(SettingsError, match="The engine must be exact or classic, not 'steam'"):
        checked_engine("steam")
