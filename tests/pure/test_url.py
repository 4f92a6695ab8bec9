"""One spelling per page: the fast way held against the slow one, and the rules one by one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphbrain.errors import BadInput
from graphbrain.url import LONGEST, TRACKING, Rules, _slowly, host_of, key_of, name_of, spell

SAME = [
    ("http://a.org", "http://a.org/"),
    ("HTTP://A.Org/", "http://a.org/"),
    ("http://a.org:80/", "http://a.org/"),
    ("https://a.org:443/", "https://a.org/"),
    ("https://a.org:80/", "https://a.org:80/"),
    ("http://a.org:8080/x", "http://a.org:8080/x"),
    ("http://a.org./x", "http://a.org/x"),
    ("http://a.org/#top", "http://a.org/"),
    ("  http://a.org/\n", "http://a.org/"),
    ("http://a.org/?b=2&a=1", "http://a.org/?a=1&b=2"),
    ("http://a.org/?utm_source=x&a=1&gclid=7", "http://a.org/?a=1"),
    ("http://a.org/?UTM_Source=x", "http://a.org/?UTM_Source=x"),
    ("http://a.org/?utm_source=x", "http://a.org/"),
    ("http://a.org/a b", "http://a.org/a%20b"),
    ("http://a.org/%7Ex", "http://a.org/~x"),
    ("http://a.org/%c3%a4", "http://a.org/%C3%A4"),
    ("http://a.org/ä", "http://a.org/%C3%A4"),
    ("http://bücher.de/", "http://xn--bcher-kva.de/"),
    ("http://[::1]:8000/x", "http://[::1]:8000/x"),
    ("http://[::1]/", "http://[::1]/"),
    ("http://u:p@a.org/", "http://u:p@a.org/"),
    ("http://a.org?x=1", "http://a.org/?x=1"),
    ("http://a.org/x/../y/./z", "http://a.org/y/z"),
    ("http://a.org/../y", "http://a.org/y"),
]


@pytest.mark.parametrize(("written", "canonical"), SAME)
def test_one_spelling(written: str, canonical: str) -> None:
    assert spell(written) == canonical


@pytest.mark.parametrize("canonical", sorted({canonical for _, canonical in SAME}))
def test_the_canonical_spelling_is_its_own(canonical: str) -> None:
    assert spell(canonical) == canonical


REFUSED = [
    ("ftp://a.org/", "not http"),
    ("mailto:me@a.org", "not http"),
    ("javascript:x()", "not http"),
    ("/relative", "not http"),
    ("a.org/x", "not http"),
    ("", "not http"),
    ("http://", "no host"),
    ("http:///x", "no host"),
    ("http://./", "no host"),
    ("http://a.org/\x00", "control"),
    ("http://a.org/a\nb", "control"),
    ("http://a\x7f.org/", "control"),
    ("http://a.org:port/", "cannot be read"),
    ("http://a.org:99999/", "cannot be read"),
    ("http://[::1/", "cannot be read"),
    ("http://a b.org/", "host"),
    ("http://a%b.org/", "host"),
    ("http://a.org/" + "x" * LONGEST, "longer"),
    ("http://a.org/" + "ä" * (LONGEST // 2), "longer"),
]


@pytest.mark.parametrize(("written", "why"), REFUSED, ids=lambda text: text[:30])
def test_what_names_no_page_is_refused_with_the_reason(written: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        spell(written)


@pytest.mark.parametrize("thing", [None, 7, b"http://a.org/", ["http://a.org/"]])
def test_a_url_is_text(thing: object) -> None:
    with pytest.raises(BadInput, match="text"):
        spell(thing)  # type: ignore[arg-type]


def test_the_longest_url_is_taken() -> None:
    longest = "http://a.org/" + "x" * (LONGEST - len("http://a.org/"))
    assert spell(longest) == longest


hosts = st.from_regex(r"[a-z0-9]{1,6}([.-][a-z0-9]{1,5}){0,3}", fullmatch=True)
ports = st.sampled_from(["", ":80", ":443", ":8080", ":1", ":65535", ":65536", ":99999", ":0", ":080"])
paths = st.from_regex(r"(/[A-Za-z0-9_.~%-]{0,6}){0,4}", fullmatch=True)
tails = st.one_of(
    st.just(""),
    st.from_regex(r"\?([a-z_]{1,10}=[a-zA-Z0-9%+]{0,4}&?){0,3}", fullmatch=True),
    st.just("#x"),
)
plain_urls = st.builds(
    lambda scheme, host, port, path, tail: f"{scheme}://{host}{port}{path}{tail}",
    st.sampled_from(["http", "https", "HTTP"]),
    hosts,
    ports,
    paths,
    tails,
)


def outcome(url: str, slowly: bool) -> str:
    try:
        return _slowly(url, None, TRACKING) if slowly else spell(url)
    except BadInput:
        return "refused"


@given(plain_urls)
@example("http://example.com:99999/")
@example("http://a..b/")
@example("http://a.org//x")
@example("http://a.org/../x")
@example("http://a.org/%7e")
@example("http://a-.org/")
def test_the_fast_way_is_the_slow_way(url: str) -> None:
    assert outcome(url, slowly=False) == outcome(url, slowly=True)


@given(st.one_of(plain_urls, st.text(max_size=30), st.text(max_size=12).map("http://a.org/{}".format)))
def test_spelling_twice_is_spelling_once(url: str) -> None:
    once = outcome(url, slowly=False)
    assert once == "refused" or spell(once) == once


@given(st.text(max_size=40).map("http://{}".format))
def test_no_text_breaks_it(url: str) -> None:
    once = outcome(url, slowly=False)
    if once != "refused":
        assert once.isascii()
        assert host_of(once)
        assert name_of(once)


def test_text_that_cannot_be_sent_names_no_page() -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        spell("http://a.org/\ud800")


def test_the_users_step_comes_last_and_is_spelt_again() -> None:
    assert spell("http://a.org/?s=1&b", extra=lambda url: url.split("?")[0].upper()) == "http://a.org/"


def test_the_users_step_may_refuse() -> None:
    def only_a(url: str) -> str:
        if "//a." not in url:
            raise BadInput("not mine")
        return url

    assert spell("http://a.org", extra=only_a) == "http://a.org/"
    with pytest.raises(BadInput, match="not mine"):
        spell("http://b.org/", extra=only_a)


def test_keys_are_128_bits_in_hex() -> None:
    assert key_of("http://a.org/") == "5968c643c25667cf0c76374f303f1071"
    assert key_of("http://a.org/x") != key_of("http://a.org/")


@pytest.mark.parametrize(
    ("url", "host", "name"),
    [
        ("http://a.org/", "a.org", "a.org"),
        ("http://a.org/x/y", "a.org", "a.org/y"),
        ("http://a.org/x/y/", "a.org", "a.org/y"),
        ("http://a.org:8080/x", "a.org:8080", "a.org:8080/x"),
        ("http://u:p@a.org/x", "a.org", "a.org/x"),
        ("http://p/", "p", "p"),
        ("http://t/h", "t", "t/h"),
        ("http://[::1]:80/x", "[::1]:80", "[::1]:80/x"),
        ("http://a.org/" + "x" * 200, "a.org", "a.org/" + "x" * 74),
    ],
)
def test_host_and_name(url: str, host: str, name: str) -> None:
    assert (host_of(url), name_of(url)) == (host, name)


def test_rules_remember_their_own_settings() -> None:
    one, other = Rules(drop=["x"]), Rules(extra=lambda url: url.replace("a.org", "b.org"))
    assert one.page("http://a.org/?x=1")[0] == "http://a.org/"
    assert other.page("http://a.org/")[0] == "http://b.org/"
    assert one.page("http://a.org/") == ("http://a.org/", key_of("http://a.org/"))
