"""robots.txt by RFC 9309: what a text forbids, against the plainest reading of it; and hostile texts, in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput
from graphbrain.frontier.hosts import robots
from graphbrain.frontier.hosts.robots import LONGEST_TEXT, Robots, product, readable


def allowed(text: str | bytes, *paths: str, agent: str = "graphbrain") -> list[bool]:
    rules = Robots(readable(text))
    return [rules.allows(f"http://h.example{path}", agent) for path in paths]


def delay(text: str, agent: str = "graphbrain") -> float:
    return Robots(readable(text)).delay(agent)


# ---------------------------------------------------------------- patterns


def glob(pattern: str, text: str) -> bool:
    """Does it fit? By the book: for every end of the pattern, at which places of the text it may have come so far."""
    anchored = pattern.endswith("$")
    at = {0}
    for sign in pattern.removesuffix("$"):
        if sign == "*":
            at = set(range(min(at), len(text) + 1)) if at else at
        else:
            at = {n + 1 for n in at if n < len(text) and text[n] == sign}
    return len(text) in at if anchored else bool(at)


def plainly(rules: list[tuple[bool, str]], path: str) -> bool:
    """The longest rule that fits, and of two as long the one that allows."""
    return max(((len(p), allow) for allow, p in rules if p[:1] in ("/", "*") and glob(p, path)), default=(0, True))[1]


RULE = st.tuples(st.booleans(), st.text("ab/*$", min_size=1, max_size=8).map(lambda text: f"/{text}"))
PATH = st.text("ab/", max_size=12).map(lambda text: f"/{text}")


@given(st.lists(RULE, max_size=8), PATH)
@example([(False, "/a*a")], "/a")
@example([(False, "/*a$"), (True, "/*a*a$")], "/ba")
@example([(False, "/**a**$")], "/aab")
def test_rules_hold_as_by_the_book(rules: list[tuple[bool, str]], path: str) -> None:
    rules = [(allow, pattern) for allow, pattern in rules if "$" not in pattern[:-1]]
    text = "User-agent: *\n" + "".join(f"{'Allow' if allow else 'Disallow'}: {pattern}\n" for allow, pattern in rules)
    assert allowed(text, path) == [plainly(rules, path)]


SIGNS = st.sampled_from([*"ab9-._~!'()+,;=:@/&?", "é", "ツ", "💩", " ", '"', "<", "|", "[", "^", "%", "*", "$"])


def in_other_words(text: str, choose: Callable[[int], int]) -> str:
    """A path, its characters escaped or not where both are the same octet."""
    words = ""
    for sign in text:
        escaped = "".join(f"%{octet:02X}" for octet in sign.encode())
        escaped = escaped.lower() if choose(2) else escaped
        only_escaped = sign in ' "<|[^%*$'
        only_plain = sign in "!'()+,;=:@/&?"
        words += sign if only_plain or (choose(2) and not only_escaped) else escaped
    return words


@given(st.lists(RULE, max_size=8), PATH)
def test_a_text_that_allows_all_forbids_nothing(rules: list[tuple[bool, str]], path: str) -> None:
    lines = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules]
    text = "\n".join(["User-agent: *", *lines])
    if Robots(text).allows_all("graphbrain"):
        assert allowed(text, f"/{path.lstrip('/')}") == [True]
    else:
        assert any(not allow for allow, _ in rules)


@given(st.text(SIGNS, max_size=12), st.data())
def test_an_octet_is_the_same_however_it_is_written(path: str, data: st.DataObject) -> None:
    def choose(n: int) -> int:
        return data.draw(st.integers(0, n - 1))

    rule, page = (f"/{in_other_words(path, choose)}" for _ in range(2))
    assert allowed(f"User-agent: *\nDisallow: {rule}$", page) == [False]
    assert allowed(f"User-agent: *\nDisallow: /*\nAllow: {rule}$", page) == [True]
    assert allowed(f"User-agent: *\nDisallow: {rule}b$", page) == [True]


@given(st.sampled_from("!'()+,;=&:@/"), st.sampled_from(["é", "~", "b"]))
def test_what_parts_a_url_is_not_its_escape(sign: str, other: str) -> None:
    escaped = quote(sign, safe="")
    assert allowed(f"User-agent: *\nDisallow: /{other}{sign}x", f"/{other}{escaped}x", f"/{other}{sign}x") == [
        True,
        False,
    ]
    assert allowed(f"User-agent: *\nDisallow: /{other}{escaped}x", f"/{other}{escaped}x", f"/{other}{sign}x") == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("rule", "page"),
    [  # the table of RFC 9309, 2.2.2, and 2.2.3
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/*%2Fx", "/?u=%2Fx"),
    ],
)
def test_the_rfcs_own_examples(rule: str, page: str) -> None:
    assert allowed(f"User-agent: *\nDisallow: {rule}", page, "/other") == [False, True]


@pytest.mark.parametrize(
    ("rules", "verdicts"),
    [
        ("Disallow: /a", {"/a": False, "/ab": False, "/A": True, "/": True, "/b/a": True}),
        ("Disallow: /a$", {"/a": False, "/ab": True, "/a?x": True}),
        ("Disallow: /$", {"": False, "/": False, "/a": True}),
        ("Disallow: /x$y", {"/x$y": False, "/x%24yz": False, "/x": True}),
        ("Disallow: /%2A", {"/*": False, "/a": True}),
        ("Disallow: /*.pdf$", {"/f.pdf": False, "/f.pdf?x=1": True, "/.pdf": False}),
        ("Disallow: *.pdf", {"/a/f.pdf": False, "/a": True}),
        ("Disallow: /*?", {"/a?": False, "/a?b": False, "/a": True}),
        ("Disallow: /x?print$", {"/x?print": False, "/x?print=1": True}),
        ("Disallow: /git/*;a=log", {"/git/?p=x;a=log": False, "/git/?p=x": True}),
        ("Allow: /a\nDisallow: /a\nDisallow: /", {"/a": True, "/b": False}),
        ("Allow: /index.html\nDisallow: /", {"/": True, "/index.html": True, "/x": False}),
        ("Disallow: /", {"/robots.txt": True, "/robots.txt?x": False, "/a/robots.txt": False, "/": False}),
        ("Disallow:", {"/": True}),
        ("Disallow: a", {"/a": True}),
        ("Disallow: http://h.example/a", {"/a": True}),
        ("Allow: /a?b=1&c=2\nDisallow: /a", {"/a?b=1&c=2": True, "/a?c=2&b=1": False, "/a#b": False}),
    ],
)
def test_patterns(rules: str, verdicts: dict[str, bool]) -> None:
    assert allowed(f"User-agent: *\n{rules}", *verdicts) == list(verdicts.values())


def test_hostile_texts_take_no_time() -> None:
    """Patterns that make regular expressions go back and forth, or that are many, or long."""
    texts = [
        "Disallow: /********************/x\nDisallow: /*******************y",
        "Disallow: /" + "*a" * 20 + "b$",
        "Disallow: /" + "*.*" * 12 + "z$",
        "Disallow: /" + "*a" * 250_000 + "b",
        "\n".join(f"Disallow: /*{n}*a*b*c$" for n in range(25_000)),
        "\n".join(f"Disallow: /*{'a' * 25}b{'a' * (25 + n % 7)}{'c' * (n % 9)}{n}" for n in range(6_000)),
        "\n".join(f"Disallow: /{'a' * n}b" for n in range(950)),
        "\n".join(f"Disallow: /x{n}" for n in range(36_000)),
        "\n".join(["User-agent: a"] * 15_000 + ["Crawl-delay: 2"] * 15_000),
        "User-agent: x\nDisallow: /y\n" * 15_000,
        "User-agent: " + "a" * 400_000,
        "%" * 400_000 + ":\n" + "Disallow: /" + "%" * 100_000,
    ]
    pages = ["/" + "a" * 60, "/" + "a" * 8_000, "/" + "a." * 40, "/?" + "%2F" * 2_000]
    for text in texts:
        began = time.thread_time()
        rules = Robots(readable(f"User-agent: *\n{text}"))
        for _ in range(5):
            for page in pages:
                rules.allows(f"http://h.example{page}", "graphbrain")
        rules.delay("a")
        assert time.thread_time() - began < 3.0, text[:60]


def test_who_asks_for_more_than_can_be_looked_at_is_left_alone() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /*{n}x$\n" for n in range(25_000))
    assert allowed(text, "/a", "/" + "a" * 8_000) == [True, False]


# ---------------------------------------------------------------- groups

GROUPS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["a", "B", "a/1.0", "*", "c", "ab"]), min_size=1, max_size=3),
        st.lists(st.sampled_from(["1", "2", "3", "4"]), max_size=2, unique=True),
    ),
    max_size=5,
)


@given(
    GROUPS, st.sampled_from(["a", "A/2.0 (+http://a.example)", "b", "ab", "d"]), st.sampled_from(["\n", "\r", "\r\n"])
)
def test_all_groups_that_name_an_agent_are_one(
    groups: list[tuple[list[str], list[str]]], agent: str, line_end: str
) -> None:
    lines: list[str] = []
    for agents, pages in groups:
        lines += [f"User-Agent: {name}" for name in agents] + ["", *(f"disallow:/{n}" for n in pages), "Disallow:"]
    token = agent.split("/")[0].lower()
    named = [(name.split("/")[0].lower(), pages) for agents, pages in groups for name in agents]
    mine = [pages for name, pages in named if name == token] or [pages for name, pages in named if name == "*"]
    verdicts = allowed(line_end.join(lines), *(f"/{n}" for n in range(1, 5)), agent=agent)
    assert verdicts == [all(str(n) not in pages for pages in mine) for n in range(1, 5)]


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("graphbrain", "graphbrain"),
        ("MyBot/1.0 (+http://a.example)", "mybot"),
        ("My-Bot_2", "my-bot_2"),
        ("Mozilla/5.0 (compatible; MyBot/1.0; +http://a.example)", "mybot"),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MyBot/2.0) Chrome/1", "mybot"),
        ("Mozilla/5.0", "mozilla"),
        ("*", ""),
        (" ", ""),
        ("mybot*", "mybot"),
    ],
)
def test_the_product_token_of_a_crawler(agent: str, token: str) -> None:
    assert product(agent) == token


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("User-agent: bot\nDisallow: /b\n\nUser-agent: *\nDisallow: /a", [False, True]),
        ("User-agent: graphbrain2\nDisallow: /b\n\nUser-agent: *\nDisallow: /a", [False, True]),
        ("User-agent: graphbrain-news\nDisallow: /b\n\nUser-agent: *\nDisallow: /a", [False, True]),
        ("User-agent: GRAPHBRAIN\nDisallow: /b\n\nUser-agent: *\nDisallow: /a", [True, False]),
        ("User-agent: graphbrain\n\nUser-agent: *\nDisallow: /a", [False, True]),
        ("User-agent: graphbrain\nDisallow:\n\nUser-agent: *\nDisallow: /", [True, True]),
        ("User-agent: graphbrain\nSitemap: http://h.example/s\nUser-agent: x\nDisallow: /a", [False, True]),
        ("User-agent: graphbrain\nCrawl-delay: 5\nUser-agent: x\nDisallow: /a", [False, True]),
        ("User-agent: x\nDisallow: /b\nUser-agent: graphbrain\nDisallow: /a", [False, True]),
        ("Disallow: /a\nUser-agent: *\nDisallow: /b", [True, False]),
        ("User-agent: x\nDisallow: /a", [True, True]),
        ("User-agent: * # all\nDisallow : /a # x", [False, True]),
        ("User-agent *\nDisallow /a", [False, True]),
        ("Useragent: *\nDissallow: /a", [False, True]),
        ("user agent: *\ndisalow: /a", [False, True]),
        ("User-agent:\nDisallow: /", [True, True]),
        ("\u200bUser-agent:\u00a0*\n\tDisallow:\u00a0/a", [False, True]),
        ("<html><body>User-agent: *<br>Disallow: /</body></html>", [True, True]),
        ("", [True, True]),
    ],
)
def test_groups(text: str, verdicts: list[bool]) -> None:
    assert allowed(text, "/a", "/b") == verdicts


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        *(("2.5", 2.5), ("0", 0), ("-3", 0), ("NaN", 0), ("inf", 0), ("1e400", 0), ("ten", 0), ("10s", 0), ("1,5", 0)),
        *(("99999999", 99_999_999.0), ("9" * 500, 1e9), (".5", 0.5), ("3.", 3.0), ("1_0", 0), ("٣", 0), ("", 0)),
    ],
)
def test_a_crawl_delay(told: str, seconds: float) -> None:
    assert delay(f"User-agent: *\nCrawl-delay: {told}") == seconds


def test_a_crawl_delay_is_for_the_agents_above_it() -> None:
    text = "User-agent: x\nCrawl-delay: 10\nUser-agent: *\nCrawl-delay: 2\nDisallow: /a\nCrawl-delay: 3\n"
    assert (delay(text, "x"), delay(text)) == (10.0, 3.0)
    assert delay("User-agent: *\nCrawl-delay: 5\n\nUser-agent: graphbrain\nDisallow: /a") == 0.0


# ---------------------------------------------------------------- texts


@given(st.lists(st.sampled_from(["User-agent: *", "Disallow: /a", "Disallow: /ツ", "# é", "", "Allow: /ab"])))
def test_a_text_is_the_same_in_every_coding(lines: list[str]) -> None:
    pages = ("/a", "/ab", "/%E3%83%84", "/b")
    plain = allowed("\n".join(lines), *pages)
    for end in ("\n", "\r", "\r\n"):
        text = end.join(lines) + end
        for raw in (
            text.encode(),
            text.encode("utf-8-sig"),
            text.encode("utf-16"),
            text.encode("utf-8-sig").decode("latin-1"),
        ):
            assert allowed(raw, *pages) == plain
        if text.strip() and text.isascii():
            assert allowed(text.encode("utf-16-le"), *pages) == allowed(text.encode("utf-16-be"), *pages) == plain


@given(st.binary(max_size=300) | st.text(max_size=300))
@example(b"\xff\xfe\x00")
@example("\udfff:")
def test_whatever_is_text_can_be_read(raw: bytes | str) -> None:
    try:
        text = readable(raw)
    except BadInput:
        assert 0 in raw if isinstance(raw, bytes) else "\0" in raw
        return
    assert readable(text) == text.lstrip("\ufeff")
    assert robots.parsed(text).allows("http://h.example/a", "x") in (True, False)
    assert robots.remembered(robots.fingerprint(text)) is robots.parsed(text)


def test_octets_that_are_not_utf8_are_themselves_or_latin() -> None:
    text = b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /\xe3\x83\x84"
    assert allowed(text, "/caf%E9", "/café", "/ツ", "/cafe") == [False, False, False, True]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_of_a_huge_text_the_first_lines_hold(end: str) -> None:
    text = f"User-agent: *{end}" + "".join(f"Disallow: /x{n}{end}" for n in range(60_000)) + f"Disallow: /a{end}"
    kept = readable(text)
    assert LONGEST_TEXT - 100 < len(kept) <= LONGEST_TEXT
    assert text.startswith(kept.rstrip("\r") + end[0])
    assert allowed(text.encode(), "/a", "/x5") == [True, False]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "REMEMBERED_TEXT", 1_000)
    marks = []
    for n in range(10):
        text = f"# {n}".ljust(300)
        robots.parsed(text)
        marks.append(robots.fingerprint(text))
    assert [robots.remembered(mark) is not None for mark in marks] == [False] * 7 + [True] * 3
