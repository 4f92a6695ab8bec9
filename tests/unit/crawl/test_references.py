"""References are found as by the standards: srcset by a transcription of WHATWG HTML's steps, styles by tinycss2."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphbrain.crawl.references import in_css, in_srcset, replaced

SPACE = " \t\n\f\r"
PIECES = st.sampled_from(
    [*" \t\n,()", "a", "/b,c", "data:x,y", "1x", ".5x", "2.x", "1e3x", "0w", "10w", "20h", "-1x", "é"]
)


def candidates_plainly(text: str) -> list[str]:
    """The steps of "parse a srcset attribute", one by one."""
    found, place = [], 0
    while True:
        while place < len(text) and text[place] in SPACE + ",":
            place += 1
        if place >= len(text):
            return found
        start = place
        while place < len(text) and text[place] not in SPACE:
            place += 1
        url, descriptors, current, state = text[start:place], [], "", "in descriptor"
        if url.endswith(","):
            found.append(url.rstrip(","))
            continue
        while place <= len(text):
            c = text[place : place + 1]
            place += 1
            if state == "after descriptor":
                if c in SPACE and c:
                    continue
                state = "in descriptor"
            if state == "in parens":
                current += c
                state = "in descriptor" if c == ")" else state
            elif c and c in SPACE:
                descriptors, current = [*descriptors, current] if current else descriptors, ""
                state = "after descriptor"
            elif c in (",", ""):
                break
            else:
                current += c
                state = "in parens" if c == "(" else state
        if _valid([*descriptors, current] if current else descriptors):
            found.append(url)


def _valid(descriptors: Iterable[str]) -> bool:
    width = density = height = None
    for one in descriptors:
        digits = one[:-1]
        whole = digits.isascii() and digits.isdigit()
        if one[-1] == "w" and whole and int(digits) and width is None and density is None:
            width = int(digits)
        elif one[-1] == "x" and width is None and density is None and height is None and _is_float(digits):
            density = float(digits)
        elif one[-1] == "h" and whole and int(digits) and height is None and density is None:
            height = int(digits)
        else:
            return False
    return height is None or width is not None


def _is_float(text: str) -> bool:
    if not text.isascii() or text[:1] in "+-" or text[-1:] == "." or not any(c.isdigit() for c in text):
        return False
    try:
        return float(text) >= 0 and set(text) <= set("0123456789.eE+-")
    except ValueError:
        return False


@given(st.lists(PIECES, max_size=14).map("".join))
@example("/w_300,h_200/a.jpg 1x, b.jpg 2x")
@example("a (1x, b 2x), c 2x")
def test_the_candidates_of_a_srcset_are_those_of_the_standard(text: str) -> None:
    found = list(in_srcset(text))
    assert [reference.text for reference in found] == candidates_plainly(text)
    assert all(text[reference.start : reference.end] == reference.text for reference in found)


QUOTES = st.sampled_from(["'", '"'])
LETTERS = st.text(st.sampled_from("ab/.:?=#,;%{}()[]'\"\\ \né日😀"), max_size=6)


@st.composite
def written(draw: st.DrawFn) -> tuple[str, str]:
    """A URL, and a string or a bare text that has it, with escapes."""
    url = "u" + draw(LETTERS)
    mark = draw(st.sampled_from(["'", '"', ""]))
    hidden = set("\\\n" + mark) if mark else set("\\\n'\"() ")
    escapes = draw(st.sampled_from(["{:x} ", "{:06X}", "{:x}\n"]))
    text = "".join("\\" + escapes.format(ord(c)) if c in hidden or draw(st.integers(0, 9)) == 0 else c for c in url)
    return url, f"{mark}{text}{mark}"


@st.composite
def sheets(draw: st.DrawFn) -> str:
    """A style sheet of rules, each with a reference or with what looks like one."""
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        text = draw(written())[1]
        quoted = text if text[0] in "'\"" else f'"{text}"'
        name = draw(st.sampled_from(["url", "URL", "u\\72l", "\\75 rl"]))
        form = draw(st.sampled_from([
            "@import {q};", "@import {u}({t}) screen;", "@namespace {q};", "@namespace x {u}({t});", "/* {u}({t}) */",
            "p{{a:{u}( {t} )}}", "p{{a:{u}({q}) 1px,local({q})}}", "p{{content:{q}}}", "p{{a:src({q})}}",
            "p{{a:-webkit-image-set({q} 1x type({q}),{u}({t}) 2x)}}", "@media x{{p{{a:{u}({q})}}}}", "xurl({q}){{}}",
            "@font-face{{src:{u}({q}) format({q})}}", "p[a={q}]{{a:b}}",
        ]))  # fmt: skip
        rules.append(form.format(q=quoted, t=text, u=name))
    return draw(st.sampled_from(["", " ", "\n"])).join(rules)


def urls_by_tinycss2(sheet: str) -> list[str]:
    tinycss2 = pytest.importorskip("tinycss2")

    def within(tokens: Iterable[object], strings: bool) -> Iterable[str]:
        for token in tokens:
            kind = getattr(token, "type", "")
            if kind == "url" or (kind == "string" and strings):
                yield token.value  # type: ignore[attr-defined]
            elif kind == "function":
                of_url = token.lower_name in ("url", "src", "image-set", "-webkit-image-set")  # type: ignore[attr-defined]
                yield from within(token.arguments, of_url)  # type: ignore[attr-defined]
            elif hasattr(token, "content") and isinstance(token.content, list):
                yield from within(token.content, False)

    found: list[str] = []
    for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True):
        if rule.type == "at-rule" and rule.lower_at_keyword == "namespace":
            continue
        imports = rule.type == "at-rule" and rule.lower_at_keyword == "import"
        found += within(rule.prelude if hasattr(rule, "prelude") else [], imports)
        found += within(getattr(rule, "content", None) or [], False)
    return [url for url in found if url and not url.startswith("#")]


@given(sheets())
def test_the_references_of_a_style_sheet_are_those_that_tinycss2_reads(sheet: str) -> None:
    found = list(in_css(sheet))
    assert [reference.text for reference in found] == urls_by_tinycss2(sheet)


@given(sheets())
def test_a_style_sheet_whose_references_are_replaced_has_the_new_ones(sheet: str) -> None:
    found = list(in_css(sheet))
    new = replaced(sheet, found, lambda text: f'"new/{len(text)}"')
    assert [reference.text for reference in in_css(new)] == [f"new/{len(reference.text)}" for reference in found]
    assert replaced(sheet, found, lambda _: None) == sheet


@pytest.mark.parametrize(
    "piece", ["a", "\\", "'", '"', "url(", "(", "a(", "\\a", "@", "/*", "'\\", "url(\\", "😀url", "{"]
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    began = time.process_time()
    assert sum(1 for _ in in_css("url" + piece * 100_000)) >= 0
    assert sum(1 for _ in in_srcset(f"{piece} (," * 50_000)) >= 0
    assert time.process_time() - began < 10
