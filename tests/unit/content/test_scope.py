"""What may be fetched: hosts with their subdomains, patterns, depth."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import SettingsError
from graphbrain.base.settings import Settings
from graphbrain.base.urls.hostnames import host_text
from graphbrain.base.urls.normalization import host_of
from graphbrain.content.scope import Scope


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


def test_a_port_that_is_named_is_named_for_the_subdomains_too() -> None:
    assert holds("http://www.a.org:8080/", allow_hosts="a.org:8080")
    assert not holds("http://www.a.org:8081/", allow_hosts="a.org:8080")


def test_a_usual_port_is_one_that_no_host_of_the_graph_is_named_by() -> None:
    for text in ("a.org:80", "a.org:443"):
        assert holds("http://www.a.org/", allow_hosts=text) and holds("https://a.org/", allow_hosts=text)
        assert not holds("http://a.org:8080/", allow_hosts=text)
    assert holds("https://a.org:80/", allow_hosts="a.org:80") and holds(
        "https://a.org:80/", allow_hosts="https://a.org:80"
    )
    assert not holds("http://a.org/", allow_hosts="https://a.org:80")


NAMES = st.sampled_from(["a.example", "bücher.example", "www.ツ.example", "a_b.example", "192.0.2.1"])
BEFORE = st.sampled_from(["", "*.", ".", "http://", "https://", "//", "https://*.", "HTTP://."])
AFTER = st.sampled_from(["", ".", "/", "./"])
BETWEEN = st.sampled_from([" ", ",", ", ", "; ", "\n", "  "])
CHANGES = st.sampled_from([str, str.upper, str.title, lambda name: host_text(name)])


@given(
    st.lists(st.tuples(BEFORE, NAMES, CHANGES, AFTER), min_size=1, max_size=4),
    BETWEEN,
    NAMES,
    st.sampled_from(["", ":81"]),
)
def test_hosts_are_found_however_they_are_written(
    entries: list[tuple[str, str, Callable[[str], str], str]], between: str, name: str, port: str
) -> None:
    text = between.join(f"{before}{change(each)}{after}" for before, each, change, after in entries)
    among = name in {each for _, each, _, _ in entries}
    host = host_text(name) + port
    for each in (host, host if name[0].isdigit() else f"sub.{host}"):
        assert holds(f"http://{each}/", allow_hosts=text) == among
        assert holds(f"http://{each}/", deny_hosts=text) != among
    assert not holds(f"http://not{host}/", allow_hosts=text)


def test_a_star_is_every_host() -> None:
    assert holds("http://a.org:8080/", allow_hosts="*")
    assert not holds("http://a.org/", deny_hosts="b.org *")


@pytest.mark.parametrize("name", ["allow_hosts", "deny_hosts"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a.org https://b.org/path", "'https://b.org/path' names none: a host is named without a path"),
        ("/x/", "'/x/' names none: that is a path"), ("*a.org", "a '\\*'"),
        ("a.*.org", "a '\\*' is only allowed for all subdomains"),
        ("a..org", "'a..org' names none"), (",", "there is no host in it"), ("ftp://a.org", "http and https"),
        ("a.org:http", "port"), ("[a-z]+\\.org", "names none"), ("me@a.org", "without a user"),
    ],
)  # fmt: skip
def test_what_can_match_nothing_is_refused_in_a_sentence(name: str, text: str, why: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} must be hosts, .*{why}") as refused:
        Settings.read(environ={}, **{name: text})
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


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


@pytest.mark.parametrize("seed", range(50))
def test_what_is_outside_is_so_by_a_setting_that_is_named(seed: int) -> None:
    """Without that setting it is inside, or another is named."""
    dice = random.Random(seed)
    given: dict[str, object] = {}
    for name, value in (
        *(("allow_hosts", "a.org"), ("deny_hosts", "b.a.org"), ("allow_urls", "/[12]"), ("deny_urls", "/2")),
        ("max_depth", 1),
    ):
        if dice.random() < 0.5:
            given[name] = value
    url, depth = f"http://{dice.choice(['a.org', 'b.a.org', 'c.org'])}/{dice.randrange(4)}", dice.randrange(3)
    blocked = list[str]()
    while by := Scope.of(Settings.read(environ={}, **given)).why_not(url, url.split("/")[2], depth):
        blocked.append(by)
        del given[by]
    assert len(blocked) == len(set(blocked)) and Scope.of(Settings.read(environ={}, **given)).holds(
        url, url.split("/")[2], depth
    )
