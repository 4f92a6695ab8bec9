"""Parts of a page beside its text: which of them differ between two visits."""

from __future__ import annotations

import pytest

from graphbrain.base.model import PARTS, Seen
from graphbrain.schedule import parts
from graphbrain.schedule.fingerprints import ChangeTest, take

PAGE = b"""<html><head><META property="og:price:amount" content="5"><meta name=viewport content=x>
<script type="application/ld+json" nonce=1>{"price": 5}</script></head>
<body class=a><p>text</p><img class=b width=1 src="/a.png" alt='a cat'><IMG SRC=/b.png loading=lazy/></body></html>"""


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (b"/a.png", b"/c.png", ["images"]),
        (b"a cat", b"a dog", ["images"]),
        (b"SRC=/b.png", b"data-src=/c.png", ["images"]),
        (b'"price": 5', b'"price": 6', ["structured_data"]),
        (b'content="5"', b'content="6"', ["structured_data"]),
        (b'"price": 5', b'"price":\n  5', []),
        (b"class=b width=1", b"class=c width=2", []),
        (b"nonce=1", b"nonce=2", []),
        (b"content=x", b"content=y", []),
        (b"text", b"other text", []),
    ],
)
def test_images_and_structured_data_of_a_body(old: bytes, new: bytes, changed: list[str]) -> None:
    one, other = parts.of_body(PAGE), parts.of_body(PAGE.replace(old, new))
    assert PAGE.replace(old, new) != PAGE
    assert [*parts.changed(one, other)] == changed
    assert parts.of_body(b"") not in (one, other)


def test_links_are_a_set_and_a_part_that_a_visit_does_not_show_stays() -> None:
    one = parts.with_facts(parts.of_body(PAGE), ["a", "b"], "a title", [])
    other = parts.with_facts(None, ["b", "a"], "a title", ["noindex"])
    assert parts.changed(one, other) == ("robots",)
    assert parts.changed(one, None) == parts.changed(None, one) == ()
    kept = parts.following(one, other)
    assert parts.changed(kept, parts.with_facts(parts.of_body(b""), ["a"], "", ["noindex"])) == PARTS[1:4] + PARTS[5:]
    assert len(kept or "") == parts.SIZE == 22
    assert parts.following(None, None) is None


def test_hashes_of_another_version_are_not_compared_and_others_are_refused() -> None:
    one = parts.of_body(PAGE)
    assert parts.changed("9" + one[1:], parts.of_body(b"")) == ()
    for text in ("", "1:AAAA", "parts", "1:%"):
        with pytest.raises(ValueError):
            parts.read(text)


def test_a_body_is_searched_only_if_one_of_its_parts_counts() -> None:
    seen = [
        take(Seen(), PAGE, kind, ChangeTest(method, counted=frozenset(counted))).parts
        for method in ("blocks", "body")
        for kind, counted in (("text/html", PARTS[:2]), ("text/html", ["images"]), ("application/json", PARTS))
    ]
    assert seen == [None, parts.of_body(PAGE), None] * 2
