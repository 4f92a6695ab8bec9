"""Addresses and keys: the fast way held against the slow one, and the rules one by one."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput
from graphbrain.base.urls import normalization as rules
from graphbrain.base.urls.normalization import (
    LONGEST,
    TRACKING,
    Rules,
    address,
    host_of,
    key_of,
    name_of,
    names_user,
    normal,
    resolved,
    spell,
    surplus,
    without_user,
)

# As it was written, its address, its normal form.
SPELLINGS = [
    ("http://a.org", "http://a.org/", "http://a.org/"),
    ("HTTP://A.Org/", "http://a.org/", "http://a.org/"),
    ("http://a.org:80/", "http://a.org/", "http://a.org/"),
    ("https://a.org:443/", "https://a.org/", "https://a.org/"),
    ("https://a.org:80/", "https://a.org:80/", "https://a.org:80/"),
    ("http://a.org:0080/", "http://a.org/", "http://a.org/"),
    ("http://a.org:/", "http://a.org/", "http://a.org/"),
    ("http://a.org:8080/x", "http://a.org:8080/x", "http://a.org:8080/x"),
    ("http://a.org./x", "http://a.org/x", "http://a.org/x"),
    ("http://a.org/#top", "http://a.org/", "http://a.org/"),
    ("http://a.org/#!top", "http://a.org/", "http://a.org/"),
    ("  http://a.org/\n", "http://a.org/", "http://a.org/"),
    ("http://a.org/?b=2&a=1", "http://a.org/?b=2&a=1", "http://a.org/?a=1&b=2"),
    ("http://a.org/?", "http://a.org/?", "http://a.org/"),
    ("http://a.org/x?wsdl", "http://a.org/x?wsdl", "http://a.org/x?wsdl="),
    ("http://a.org/?a+b", "http://a.org/?a+b", "http://a.org/?a+b="),
    ("http://a.org/?q=a%20b", "http://a.org/?q=a%20b", "http://a.org/?q=a+b"),
    ("http://a.org/?/x/1-y/", "http://a.org/?/x/1-y/", "http://a.org/?%2Fx%2F1-y%2F="),
    ("http://a.org/?p=x.git;a=log", "http://a.org/?p=x.git;a=log", "http://a.org/?p=x.git%3Ba%3Dlog"),
    ("http://a.org/?http://b.org/?x", "http://a.org/?http://b.org/?x", "http://a.org/?http%3A%2F%2Fb.org%2F%3Fx="),
    ("http://a.org/?utm_source=x&a=1&gclid=7", "http://a.org/?utm_source=x&a=1&gclid=7", "http://a.org/?a=1"),
    ("http://a.org/?UTM_Source=x", "http://a.org/?UTM_Source=x", "http://a.org/"),
    ("http://a.org/?utm%5Fsource=x", "http://a.org/?utm%5Fsource=x", "http://a.org/"),
    ("http://a.org/?%6Asessionid=7&z=1", "http://a.org/?%6Asessionid=7&z=1", "http://a.org/?z=1"),
    ("http://a.org/?id=1&PHPSESSID=aaaa", "http://a.org/?id=1&PHPSESSID=aaaa", "http://a.org/?id=1"),
    ("http://a.org/p;jsessionid=A1.n?id=1", "http://a.org/p;jsessionid=A1.n?id=1", "http://a.org/p?id=1"),
    ("http://a.org/p;JSessionID=A/q;v=1", "http://a.org/p;JSessionID=A/q;v=1", "http://a.org/p/q;v=1"),
    ("http://a.org/p;v=1;jsessionid=A", "http://a.org/p;v=1;jsessionid=A", "http://a.org/p;v=1"),
    ("http://a.org/(S(aaaa))/p.aspx", "http://a.org/(S(aaaa))/p.aspx", "http://a.org/p.aspx"),
    ("http://a.org/(X(1)F(b)S(a))/", "http://a.org/(X(1)F(b)S(a))/", "http://a.org/"),
    ("http://a.org/(x)/p", "http://a.org/(x)/p", "http://a.org/(x)/p"),
    ("http://a.org/a b", "http://a.org/a%20b", "http://a.org/a%20b"),
    ("http://a.org/100%", "http://a.org/100%25", "http://a.org/100%25"),
    ("http://a.org/%7Ex", "http://a.org/%7Ex", "http://a.org/~x"),
    ("http://a.org/%c3%a4", "http://a.org/%c3%a4", "http://a.org/%C3%A4"),
    ("http://a.org/ä", "http://a.org/%C3%A4", "http://a.org/%C3%A4"),
    ("http://a.org/a%2Fb", "http://a.org/a%2Fb", "http://a.org/a%2Fb"),
    ("http://a.org/?cv[]=5&cv[]=4", "http://a.org/?cv%5B%5D=5&cv%5B%5D=4", "http://a.org/?cv%5B%5D=4&cv%5B%5D=5"),
    ("http://bücher.de/", "http://xn--bcher-kva.de/", "http://xn--bcher-kva.de/"),
    ("http://straße.example/", "http://xn--strae-oqa.example/", "http://xn--strae-oqa.example/"),
    ("http://[::1]:8000/x", "http://[::1]:8000/x", "http://[::1]:8000/x"),
    ("http://[0:0::1]/", "http://[::1]/", "http://[::1]/"),
    ("http://u:p@a.org/", "http://a.org/", "http://a.org/"),
    ("http://@a.org/", "http://a.org/", "http://a.org/"),
    ("http://:@a.org/", "http://a.org/", "http://a.org/"),
    ("http://u:p@b@a.org:8080/x", "http://a.org:8080/x", "http://a.org:8080/x"),
    ("http://u@[::1]/", "http://[::1]/", "http://[::1]/"),
    ("http://a.org/u:p@b.org/", "http://a.org/u:p@b.org/", "http://a.org/u:p@b.org/"),
    ("http://a.org/a\nb", "http://a.org/ab", "http://a.org/ab"),
    ("ht\ntp://a.\torg/x\r\n y\t", "http://a.org/x%20y", "http://a.org/x%20y"),
    ("http://a.org/?a=\n1#\nx", "http://a.org/?a=1", "http://a.org/?a=1"),
    ("http:\\\\a.org\\", "http://a.org/", "http://a.org/"),
    ("http://a.org\\x\\..\\y", "http://a.org/y", "http://a.org/y"),
    ("http://a.org\\@b.org/", "http://a.org/@b.org/", "http://a.org/@b.org/"),
    ("http://a.org/a%5Cb", "http://a.org/a%5Cb", "http://a.org/a%5Cb"),
    ("http://a.org/?a\\b", "http://a.org/?a%5Cb", "http://a.org/?a%5Cb="),
    ("http://a.org/?UTM_Source_Platform=1", "http://a.org/?UTM_Source_Platform=1", "http://a.org/"),
    ("http://a.org/?utm_sourced=1", "http://a.org/?utm_sourced=1", "http://a.org/?utm_sourced=1"),
    ("http://a.org/?hsa_page=1", "http://a.org/?hsa_page=1", "http://a.org/?hsa_page=1"),
    ("http://a.org/?utmost=1", "http://a.org/?utmost=1", "http://a.org/?utmost=1"),
    ("http://a.org/?gbraid=1&wbraid=2&srsltid=3", "http://a.org/?gbraid=1&wbraid=2&srsltid=3", "http://a.org/"),
    ("http://a.org/?osCsid=1&a=2", "http://a.org/?osCsid=1&a=2", "http://a.org/?a=2"),
    ("http://a.org/?PHPSESSID[]=1", "http://a.org/?PHPSESSID%5B%5D=1", "http://a.org/"),
    ("http://a.org/?PHPSESSID%5b0%5d=1", "http://a.org/?PHPSESSID%5b0%5d=1", "http://a.org/"),
    (f"http://a.org/?t=1&sid={'0aF9' * 8}", f"http://a.org/?t=1&sid={'0aF9' * 8}", "http://a.org/?t=1"),
    ("http://a.org/?sid=17", "http://a.org/?sid=17", "http://a.org/?sid=17"),
    ("http://a.org?x=1", "http://a.org/?x=1", "http://a.org/?x=1"),
    ("http://a.org/x/../y/./z", "http://a.org/y/z", "http://a.org/y/z"),
    ("http://a.org/../y", "http://a.org/y", "http://a.org/y"),
    ("http://a.org/x/..", "http://a.org/", "http://a.org/"),
    ("http://a.org/x/%2E%2E/y", "http://a.org/x/%2E%2E/y", "http://a.org/y"),
    ("http://a.org//x", "http://a.org//x", "http://a.org//x"),
]


@pytest.mark.parametrize(("written", "fetched", "form"), SPELLINGS)
def test_an_address_is_as_it_was_written_and_a_key_is_of_the_normal_form(written: str, fetched: str, form: str) -> None:
    assert (address(written), spell(written)) == (fetched, form)
    assert (address(fetched), spell(fetched)) == (fetched, form)
    assert (address(form), normal(form)) == (form, form)


def test_fragments_for_scripts_are_kept_where_a_setting_says_so() -> None:
    pages = Rules(hash_bang=True).page
    assert pages("http://a.org/#!/x y")[0] == "http://a.org/#!/x%20y"
    assert pages("http://a.org/#!/x")[1] == pages("http://a.org/#!/%78")[1] != pages("http://a.org/")[1]
    assert pages("http://a.org/#top") == pages("http://a.org/")


REFUSED = [
    ("ftp://a.org/", "not http"),
    ("mailto:me@a.org", "not http"),
    ("javascript:x()", "not http"),
    ("/relative", "not http"),
    ("a.org/x", "not http"),
    ("", "not http"),
    ("http://", "no host"),
    ("http://./", "no host"),
    ("http://:80/", "no host"),
    ("http://*/", "not a host name"),
    ("http://u:p@/", "no host"),
    ("http://a.org/\x00", "control"),
    ("http://a.org/a\x0bb", "control"),
    ("http://a\x7f.org/", "control"),
    ("http://a.org:port/", "cannot be read"),
    ("http://a.org:99999/", "cannot be read"),
    ("http://a.org:0/", "cannot be read"),
    ("http://a.org:٣/", "cannot be read"),
    ("http://[::1/", "host"),
    ("http://a b.org/", "host"),
    ("http://a%b.org/", "host"),
    ("http://a..org/", "host"),
    ("http://256.256.256.256/", "host"),
    ("http://" + "a" * 64 + ".org/", "host"),
    ("http://" + "a." * 126 + "org/", "host"),
    ("http://a.org/" + "x" * LONGEST, "longer"),
    ("http://a.org/" + "ä" * (LONGEST // 2), "longer"),
]


@pytest.mark.parametrize(("written", "why"), REFUSED, ids=lambda text: text[:30])
def test_what_names_no_page_is_refused_with_the_reason(written: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        spell(written)


@pytest.mark.parametrize("scheme", ["http", "HTTPS"])
@pytest.mark.parametrize("slashes", ["", "/", "//", "///", "////", "\\\\", "/\\", "\\/\\/"])
@pytest.mark.parametrize("rest", ["a.org", "a.org/x/y?q=//z", "u:p@a.org:81/x"])
def test_any_number_of_slashes_begins_a_host(scheme: str, slashes: str, rest: str) -> None:
    """As browsers have it, also in a reference on a page of another scheme; of the same one, one slash or none leads
    within its host."""
    wanted = address(f"{scheme}://{rest}")
    assert address(f"{scheme}:{slashes}{rest}") == wanted
    other = "https" if scheme == "http" else "http"
    assert address(resolved(f"{other}://b.org/c/d", f"{scheme}:{slashes}{rest}")) == wanted
    within = address(resolved(f"{scheme.lower()}://b.org/c/d", f"{scheme}:{slashes}{rest}"))
    here = {"": f"{scheme.lower()}://b.org/c/", "/": f"{scheme.lower()}://b.org/"}
    assert within == (address(here[slashes] + rest) if slashes in here else wanted)
    if len(slashes) >= 2:
        assert address(resolved(f"{scheme.lower()}://b.org/c/d", f"{slashes}{rest}")) == wanted


@pytest.mark.parametrize("thing", [None, 7, b"http://a.org/", ["http://a.org/"]])
def test_a_url_is_text(thing: object) -> None:
    with pytest.raises(BadInput, match="text"):
        spell(thing)  # type: ignore[arg-type]


def test_the_longest_url_is_taken() -> None:
    longest = "http://a.org/" + "x" * (LONGEST - len("http://a.org/"))
    assert address(longest) == spell(longest) == longest


hosts = st.from_regex(r"[a-z0-9_]{1,6}([.-][a-z0-9]{1,5}){0,3}", fullmatch=True) | st.sampled_from(
    [
        "a" * 63 + ".b",
        "a" * 64 + ".b",
        ".".join(["a" * 50] * 5),
        ".".join(["a" * 50] * 4) + "." + "b" * 49,
        "x-.y",
        "-x.y",
    ]
)
ports = st.sampled_from(["", ":80", ":443", ":8080", ":1", ":65535", ":65536", ":99999", ":0", ":080"])
paths = st.from_regex(r"(/[A-Za-z0-9_.~%;()=-]{0,6}){0,4}", fullmatch=True)
arguments = st.one_of(
    st.from_regex(r"[a-zA-Z_;%+/:\[\]-]{0,8}(=[a-zA-Z0-9%+=]{0,4})?", fullmatch=True),
    st.sampled_from([*TRACKING, "PHPSESSID=x", "utm%5fsource=1", "%55TM_medium", "utm%255Fsource=1"]),
)
tails = st.lists(arguments, max_size=4).map(lambda parts: "?" + "&".join(parts) if parts else "") | st.just("#!x")
odd_paths = st.lists(
    st.sampled_from(
        ["/", ".", "..", ";", "jsessionid=1", "(S(a))", "(S(", "%2e", "%2F", "%3b", "%", "%4", "a", "ä", "(X(1)F(b))"]
    ),
    max_size=10,
).map(lambda parts: "/" + "".join(parts))
urls = st.builds(
    lambda scheme, host, port, path, tail: f"{scheme}://{host}{port}{path}{tail}",
    st.sampled_from(["http", "https", "HTTP"]),
    hosts,
    ports,
    paths | odd_paths,
    tails,
)
texts = st.one_of(
    urls,
    st.text(max_size=30),
    st.text(max_size=12).map("http://a.org/{}".format),
    st.text(max_size=9).map("http://a.org/?{}".format),
)


def outcome(url: str) -> tuple[str, str] | None:
    try:
        written = address(url)
    except BadInput:
        return None
    return written, normal(written)


@given(urls)
@example("http://example.com:99999/")
@example("http://a..b/")
@example("http://a.org//x")
@example("http://a.org/../x")
@example("http://a.org/%7e")
@example("http://a-.org/")
@example("http://1.2.3/")
def test_the_fast_way_is_the_slow_way(url: str) -> None:
    fast = outcome(url)
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(rules, "_PLAIN", re.compile(r"(?!)"))
        assert outcome(url) == fast


@given(texts)
@example("http://a/%4%31")
@example("http://a/.;jsessionid=1./b")
@example("http://a/(S(a));jsessionid=1/../b")
def test_an_address_is_its_own_and_so_is_a_normal_form(url: str) -> None:
    if (both := outcome(url)) is not None:
        written, form = both
        assert outcome(written) == (written, form)
        assert outcome(form) == (form, form)
        assert surplus(form) == 0


@given(texts)
def test_no_text_breaks_it(url: str) -> None:
    if (both := outcome(url)) is not None:
        for text in both:
            assert re.fullmatch(r"https?://[!-~]+", text)
            assert not re.search(r"%(?![0-9A-Fa-f]{2})", text)
            assert host_of(text)
            assert name_of(text)


tracking = st.sampled_from(TRACKING).flatmap(
    lambda name: (
        st.from_regex(r"[a-z0-9_]{0,5}", fullmatch=True).map(name[:-1].__add__) if name.endswith("*") else st.just(name)
    )
)


@given(urls, tracking, st.sampled_from(["", "[]", "[0]", "[a]"]), st.data())
def test_what_tracks_is_dropped_however_its_name_is_written(
    url: str, name: str, index: str, data: st.DataObject
) -> None:
    if (both := outcome(url)) is None:
        return
    name += index
    escaped = data.draw(st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
    odd = "".join(f"%{ord(c):02x}" if e else c.upper() if e is False and u else c
                  for c, e, u in zip(name, escaped, reversed(escaped), strict=True))  # fmt: skip
    written = both[0]
    more = f"{written}{'&' if '?' in written else '?'}{odd}={quote('ä')}"
    assert address(more) == more.replace("[", "%5B").replace("]", "%5D")
    assert normal(address(more)) == both[1]
    assert surplus(more) == surplus(written) + 1


users = st.text(
    st.characters(codec="ascii", exclude_characters="/?#\\", min_codepoint=32, max_codepoint=126), max_size=8
) | st.sampled_from(["", ":", "u:p", "a@b", "u%40", "ä:ö"])


@given(urls, users)
def test_no_user_is_ever_in_an_address(url: str, user: str) -> None:
    """It is dropped wherever it is, and nothing else changes."""
    scheme, _, rest = url.partition("://")
    named = f"{scheme}://{user}@{rest}"
    assert names_user(named)
    assert outcome(named) == outcome(url)
    assert not names_user(without_user(named)) and outcome(without_user(named)) == outcome(url)
    if (both := outcome(named)) is not None:
        for text in both:
            assert not names_user(text) and "@" not in text.split("/", 3)[2]


@given(st.one_of(texts, texts.map(lambda text: text.replace("/", "@", 3)), st.text("htp:/@\\\t\n.aä?#", max_size=20)))
def test_whatever_is_written_a_key_is_of_its_normal_form(text: str) -> None:
    """Idempotent: the key of what has the key is that key; and a user is named by no address."""
    rules = Rules()
    try:
        written, key = rules.page(text)
    except BadInput:
        return
    assert rules.page(written) == (written, key) == rules.page(without_user(text))
    assert rules.page(spell(text)) == (spell(text), key)
    assert not names_user(written) and not names_user(spell(text))


@given(urls, st.lists(st.tuples(st.integers(0, 60), st.sampled_from("\t\r\n")), max_size=4))
def test_tabs_and_line_ends_change_nothing(url: str, odd: list[tuple[int, str]]) -> None:
    text = url
    for place, character in odd:
        text = text[:place] + character + text[place:]
    assert outcome(text) == outcome(url)


@given(urls, st.data())
def test_a_backslash_before_the_query_is_a_slash(url: str, data: st.DataObject) -> None:
    head = url[: re.search(r"[?#]|\Z", url).start()]  # type: ignore[union-attr]
    turned = data.draw(st.lists(st.booleans(), min_size=len(head), max_size=len(head)))
    odd = "".join("\\" if c == "/" and turn else c for c, turn in zip(head, turned, strict=True))
    assert outcome(odd + url[len(head) :]) == outcome(url)


# Of url/resources/urltestdata.json of https://github.com/web-platform-tests/wpt: input, base, what browsers make of it.
WHATWG = [
    ("http://example\t.\norg", "http://example.org/foo/bar", "http://example.org/"),
    ("http://user:pass@foo:21/bar;par?b#c", "http://example.org/foo/bar", "http://foo:21/bar;par?b"),
    ("http:\\\\x:y@foo.com\\", "http://example.org/foo/bar", "http://foo.com/"),
    ("http://a:b@c:29/d", "http://example.org/foo/bar", "http://c:29/d"),
    ("http://foo.com/\\@", "http://example.org/foo/bar", "http://foo.com//@"),
    ("http://foo.com\\@bar", "http://example.org/foo/bar", "http://foo.com/@bar"),
    ("\t   :foo.com   \n", "http://example.org/foo/bar", "http://example.org/foo/:foo.com"),
    ("\\x", "http://example.org/foo/bar", "http://example.org/x"),
    ("\\\\foo.com\\x", "http://example.org/foo/bar", "http://foo.com/x"),
    ("a\\b", "http://example.org/foo/bar", "http://example.org/foo/a/b"),
    ("//user:p\n@foo.com/x", "http://example.org/foo/bar", "http://foo.com/x"),
    ("http://::@c@d:2", "http://example.org/foo/bar", "http://d:2/"),
    ("http://www.@pple.com", "http://example.org/foo/bar", "http://pple.com/"),
    ("/bar\\baz?x\\y", "http://example.org/foo/bar", "http://example.org/bar/baz?x%5Cy"),
]


@pytest.mark.parametrize("reference", ["http://", "HTTPS:\\\\", "//", "http:///?x", "\thttp://\n#x", "http://["])
def test_what_browsers_take_for_no_url(reference: str) -> None:
    with pytest.raises(BadInput):
        resolved("http://example.org/foo/bar", reference)


@pytest.mark.parametrize(("reference", "base", "goal"), WHATWG)
def test_what_browsers_make_of_it(reference: str, base: str, goal: str) -> None:
    assert address(resolved(base, reference)) == goal


def test_half_a_character_names_no_page() -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        spell("http://a.org/\ud800")


def test_the_users_step_shapes_the_key_only() -> None:
    own = Rules(lambda url: url.split("?")[0].upper())
    assert own.page("http://a.org/?s=1&b") == ("http://a.org/?s=1&b", key_of("http://a.org/"))
    assert own.key("http://a.org/?s=1&b") == key_of("http://a.org/")


def test_the_users_step_may_refuse() -> None:
    def only_a(url: str) -> str:
        if "//a." not in url:
            raise BadInput("not mine")
        return url

    assert spell("http://a.org", extra=only_a) == "http://a.org/"
    with pytest.raises(BadInput, match="not mine"):
        spell("http://b.org/", extra=only_a)


@pytest.mark.parametrize(
    "step",
    [lambda _: None, lambda url: url.encode(), lambda _: {}["x"], lambda _: int("x"), lambda _: "", lambda _: 1 / 0],
)
def test_a_users_step_that_fails_refuses_the_url_in_a_sentence(step: object) -> None:
    with pytest.raises(BadInput, match="the crawler's own canonical step"):
        Rules(step).page("http://a.org/")  # type: ignore[arg-type]


def test_keys_are_128_bits_in_hex() -> None:
    assert key_of("http://a.org/") == "5968c643c25667cf0c76374f303f1071"
    assert key_of("http://a.org/x") != key_of("http://a.org/")


@pytest.mark.parametrize(
    ("url", "host", "name"),
    [
        ("http://a.org/", "a.org", "a.org"),
        ("http://a.org/x/y", "a.org", "y (a.org)"),
        ("http://a.org/x/y/", "a.org", "y (a.org)"),
        ("http://a.org:8080/x", "a.org:8080", "x (a.org:8080)"),
        ("http://u:p@a.org/x", "a.org", "x (a.org)"),
        ("http://p/", "p", "p"),
        ("http://t/h", "t", "h (t)"),
        ("http://[::1]:80/x", "[::1]:80", "x ([::1]:80)"),
        ("http://a.org/" + "x" * 200, "a.org", "x" * 60 + " (a.org)"),
    ],
)
def test_host_and_name(url: str, host: str, name: str) -> None:
    assert (host_of(url), name_of(url)) == (host, name)


def test_rules_remember_their_own_settings() -> None:
    one, other = Rules(hash_bang=True), Rules(extra=lambda url: url.replace("a.org", "b.org"))
    assert one.page("http://a.org/#!1") == ("http://a.org/#!1", key_of("http://a.org/#!1"))
    assert other.page("http://a.org/#!1") == ("http://a.org/", key_of("http://b.org/"))
    assert other.page("http://a.org/") == ("http://a.org/", key_of("http://b.org/"))
    assert one.page("http://a.org/") == ("http://a.org/", key_of("http://a.org/"))


@pytest.mark.parametrize(
    ("url", "repeats"),
    [
        ("http://a.org/", 0),
        ("http://a.org/a/b/c", 0),
        ("http://a.org/a/b/a/b/a", 3),
        ("http://a.org/blog/2020/01/01/01/", 0),
        ("http://a.org/a//a/?next=/a/a/a", 2),
        ("http://a.org///a/", 2),
        ("http://a.org/seen/http://b.org/a", 0),
        ("http://a.org/list?page=2&size=9", 0),
        ("http://a.org/list?p=2&p=3&p=3", 2),
        ("http://a.org/list?p&p=&q", 1),
        ("http://a.org/a/a?p=1&p=2", 2),
    ],
)
def test_steps_and_names_that_a_url_repeats(url: str, repeats: int) -> None:
    assert rules.path_repeats(url) == repeats
