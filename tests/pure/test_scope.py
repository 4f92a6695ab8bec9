"""What may be fetched: hosts with their subdomains, patterns, depth."""

from __future__ import annotations

import pytest

from graphbrain.errors import SettingsError
from graphbrain.scope import Scope
from graphbrain.settings import Settings
from graphbrain.url import host_of


def holds(url: str, depth: int = 0, **settings: object) -> bool:
    scope = Scope.of(Settings.read(environ={}, **settings))
    return scope.holds(url, host_of(url), depth)


def test_without_settings_everything_is_inside() -> None:
    assert Scope.of(Settings()).boundless
    assert holds("http://a.org/", depth=10**6)


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://a.org/", True),
        ("http://www.a.org/", True),
        ("http://a.b.a.org/", True),
        ("http://a.org:8080/", True),
        ("http://www.a.org:8080/", True),
        ("http://nota.org/", False),
        ("http://a.org.evil.com/", False),
        ("http://org/", False),
        ("http://c.net/x", True),
    ],
)
def test_allowed_hosts_with_their_subdomains(url: str, inside: bool) -> None:
    assert holds(url, allow_hosts="A.org  c.net") == inside
    assert holds(url, deny_hosts="A.org  c.net") != inside


def test_a_port_that_is_named_matters() -> None:
    assert holds("http://a.org:8080/", allow_hosts="a.org:8080")
    assert not holds("http://a.org/", allow_hosts="a.org:8080")


def test_an_address_is_a_host() -> None:
    assert holds("http://[::1]:8000/", allow_hosts="[::1]")
    assert holds("http://127.0.0.1:8000/", allow_hosts="127.0.0.1")


def test_denied_goes_over_allowed() -> None:
    assert not holds("http://b.a.org/", allow_hosts="a.org", deny_hosts="b.a.org")
    assert holds("http://a.org/", allow_hosts="a.org", deny_hosts="b.a.org")


@pytest.mark.parametrize(("url", "inside"), [("http://a.org/doc/1", True), ("http://a.org/", False)])
def test_patterns_are_searched_for_anywhere_in_the_url(url: str, inside: bool) -> None:
    assert holds(url, allow_urls=r"/doc/\d") == inside
    assert holds(url, deny_urls=r"/doc/\d") != inside


@pytest.mark.parametrize(("depth", "inside"), [(0, True), (2, True), (3, False)])
def test_depth(depth: int, inside: bool) -> None:
    assert holds("http://a.org/", depth, max_depth=2) == inside


@pytest.mark.parametrize("name", ["allow_urls", "deny_urls"])
def test_a_pattern_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is not a regular expression"):
        Scope.of(Settings.read(environ={}, **{name: "("}))


@pytest.mark.parametrize(
    "some", [{"max_depth": 1}, {"allow_hosts": "a"}, {"deny_hosts": "a"}, {"allow_urls": "a"}, {"deny_urls": "a"}]
)
def test_any_setting_is_a_bound(some: dict[str, object]) -> None:
    assert not Scope.of(Settings.read(environ={}, **some)).boundless
