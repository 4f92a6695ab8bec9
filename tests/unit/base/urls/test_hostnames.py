"""How hosts are spelt: one name per host, whatever it is written like; what is none is refused with the reason."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.hostnames import NamedHost, host_and_port, host_text, is_loopback, named

SPELT = {
    "a.example": "a.example",
    "A.Example.": "a.example",
    "straße.example": "xn--strae-oqa.example",
    "faß.de": "xn--fa-hia.de",
    "βόλος.example": "xn--nxasmm1c.example",
    "bücher.example": "xn--bcher-kva.example",
    "BÜCHER.example": "xn--bcher-kva.example",
    "bu\u0308cher.example": "xn--bcher-kva.example",
    "b%C3%BCcher.example": "xn--bcher-kva.example",
    "xn--BCHER-kva.example": "xn--bcher-kva.example",
    "www。a。example": "www.a.example",
    "ａ．example｡": "a.example",
    "тест.тест": "xn--e1aybc.xn--e1aybc",
    "a\u00adb.example": "ab.example",
    "a%2Eexample": "a.example",
    "💩.la": "xn--ls8h.la",
    "a_b.example": "a_b.example",
    "ab--c.example": "ab--c.example",
    "-a.example": "-a.example",
    "localhost": "localhost",
    "1.example": "1.example",
    "192.0.2.1": "192.0.2.1",
    "192.0.2.1.": "192.0.2.1",
    "①②⑦.0.0.1": "127.0.0.1",
    "127.1": "127.0.0.1",
    "0x7f.0.0.1": "127.0.0.1",
    "0177.0.0.01": "127.0.0.1",
    "2130706433": "127.0.0.1",
    "[::1]": "[::1]",
    "::1": "[::1]",
    "[2001:0DB8:0::0:1]": "[2001:db8::1]",
    "[::FFFF:192.0.2.1]": "[::ffff:c000:201]",
}


@pytest.mark.parametrize(("text", "name"), SPELT.items())
def test_how_hosts_are_spelt(text: str, name: str) -> None:
    assert host_text(text) == name


NONE = [
    *("", ".", "..", "a..b", ".a", "a..", "a b", "a\tb", "a%20b", "a%2Fb", "a／b", "a：80", "a%", "a%ff", "a%2525"),
    *("a" * 64, "ü" * 60, "a." * 126 + "ab", "ü." * 100 + "a", "x" * 10_000, "ü" * 1_000_000, "%61" * 1_000_000),
    *("\ud800.a", "\u200e.a", "1.2.3.4.5", "256.0.0.1", "a.1", "1.2.3.256", "4294967296", "08.0.0.1", "0x.g.1"),
    *("<a>", "*.a", "[::1", "::1]", "[::g]", "[fe80::1%25eth0]", "[]", "[1.2.3.4]", "a@b", "a:80", "a[b", "1_0.2.3.4"),
]  # fmt: skip


@pytest.mark.parametrize("text", NONE, ids=lambda text: ascii(text[:20]))
def test_what_is_no_host_is_refused_at_once(text: str) -> None:
    began = time.thread_time()
    with pytest.raises(BadInput):
        host_text(text)
    assert time.thread_time() - began < 1.0


def test_the_longest_names() -> None:
    longest = ".".join(["a" * 63] * 3 + ["a" * 61])
    assert host_text(longest) == longest
    with pytest.raises(BadInput, match="253"):
        host_text(longest + "a")
    with pytest.raises(BadInput, match="63"):
        host_text("a" * 64 + ".example")


# Pieces that hosts are made of by people, programs and attackers.
PIECES = st.sampled_from([
    *("a", "B", "ü", "Ü", "ß", "ς", "İ", "💩", "ツ", "ﬀ", "①", "²", "\u00ad", "\u200d", "\u0308", "\u0338", "="),
    *(".", ".", "。", "｡", "-", "--", "xn--", "_", "0", "0x", "7", "255", "%2e", "%C3%BC", "%", "[", "]", "::", ":"),
    *("*", "+", " "),
])  # fmt: skip
WRITTEN = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20)


@given(WRITTEN)
@example("İ.x")
@example("=\u0338.x")
@example("1\u00ad")
def test_a_spelling_is_spelt_like_itself(text: str) -> None:
    try:
        once = host_text(text)
    except BadInput:
        assume(False)
    assert host_text(once) == once
    assert once.isascii() and once == once.lower()
    assert len(once) <= 253 and all(1 <= len(label) <= 63 for label in once.split("."))


@given(WRITTEN)
def test_case_the_roots_dot_and_composition_change_nothing(text: str) -> None:
    try:
        once = host_text(text)
    except BadInput:
        assume(False)
    assume(not text.endswith((".", "。", "｡", "\u00ad", "\u200d", "%2e")) and not once.startswith("["))
    for other in (text + ".", text + "。", unicodedata.normalize("NFD", text)):
        assert host_text(other) == once
    if text.isascii() and "%" not in text:
        assert host_text(text.upper()) == once


@given(st.ip_addresses(v=6))
def test_an_address_has_one_spelling(address: object) -> None:
    assert host_text(f"[{address.exploded.upper()}]") == host_text(str(address)) == host_text(host_text(str(address)))  # type: ignore[attr-defined]


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_in_every_base(address: object) -> None:
    number, parts = int(address), str(address).split(".")  # type: ignore[call-overload]
    written = [str(number), hex(number), f"0{number:o}", ".".join(hex(int(part)) for part in parts)]
    written += [f"{parts[0]}.{number & 0xFFFFFF}", f"{parts[0]}.{parts[1]}.{number & 0xFFFF}"]
    assert {host_text(text) for text in written} == {str(address)}


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("a.example:8080", "a.example", 8080),
        ("Bücher.example.:0080", "xn--bcher-kva.example", 80),
        ("a.example", "a.example", None),
        ("a.example:", "a.example", None),
        ("[::1]:80", "[::1]", 80),
        ("[::1]", "[::1]", None),
    ],
)
def test_hosts_with_ports(text: str, host: str, port: int | None) -> None:
    assert host_and_port(text) == (host, port)


@pytest.mark.parametrize("text", ["a:b", "a:65536", "a:-1", "a:８０", "a:" + "9" * 5_000, ":80", "a:80:80", "[::1]80"])
def test_wrong_ports_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        host_and_port(text)


@pytest.mark.parametrize(
    ("text", "parts", "name"),
    [
        ("A.example", ("a.example", None, None), "a.example"),
        ("  a.example. ", ("a.example", None, None), "a.example"),
        ("a.example/", ("a.example", None, None), "a.example"),
        ("//a.example/", ("a.example", None, None), "a.example"),
        ("a.example:80", ("a.example", 80, None), "a.example"),
        ("a.example:443", ("a.example", 443, None), "a.example"),
        ("a.example:8080", ("a.example", 8080, None), "a.example:8080"),
        ("HTTPS://a.example", ("a.example", None, "https"), "a.example"),
        ("https://a.example:443/", ("a.example", 443, "https"), "a.example"),
        ("https://a.example:80/", ("a.example", 80, "https"), "a.example:80"),
        ("http://bücher.example:8080/", ("xn--bcher-kva.example", 8080, "http"), "xn--bcher-kva.example:8080"),
        ("::1", ("[::1]", None, None), "[::1]"),
        ("http://[::1]:80", ("[::1]", 80, "http"), "[::1]"),
    ],
)
def test_hosts_as_people_name_them(text: str, parts: tuple[str, int | None, str | None], name: str) -> None:
    found = named(text)
    assert (found, found.name) == (NamedHost(*parts), name)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no host"), ("/x/", "a path"), ("https://a.example/x", "without a path"),
        ("a.example?x", "without a path"), ("a.example#x", "without a path"),
        ("ftp://a.example", "http and https"), ("http://", "no host"),
        ("me@a.example", "without a user"), ("a b", "not a host name"), (7, "not by int"), (None, "not by NoneType"),
    ],
)  # fmt: skip
def test_what_names_no_host_is_refused_with_the_reason(text: object, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        named(text)


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        *((name, True) for name in ("127.0.0.1", "127.8.8.8", "::1", "localhost")),
        *((name, False) for name in ("0.0.0.0", "::", "10.0.0.1", "a.example", "localhost.a.example", "")),
    ],
)
def test_a_loopback_address_is_recognised(name: str, alone: bool) -> None:
    assert is_loopback(name) is alone
