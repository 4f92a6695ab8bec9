"""User names and passwords in URLs are left out, however they are written, and nothing else is."""

from __future__ import annotations

import pytest

from graphbrain.base.urls.masking import masked, masked_values


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://user:secret@a.example/x", "http://a.example/x"),
        ("https://secret@a.example", "https://a.example"),
        ("http://u:p@ss@a.example:8080/?q=@b", "http://a.example:8080/?q=@b"),
        ("see http://u:secret@a.example/ and ftp://v:secret@b.example.", "see http://a.example/ and ftp://b.example."),
        ("//u:secret@a.example/", "//a.example/"),
        ("http://a.example/@home", "http://a.example/@home"),
        ("http://a.example/?mail=x@y", "http://a.example/?mail=x@y"),
        ("http://a.example#@", "http://a.example#@"),
        ("mail me@a.example", "mail me@a.example"),
        ("http://:@a.example/", "http://a.example/"),
        ("", ""),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert masked(text) == shown and masked(shown) == shown


def test_texts_in_lists_too() -> None:
    assert masked_values(["http://u@a.example/", None, 1, ("http://v@b.example/",)]) == [
        "http://a.example/",
        None,
        1,
        ("http://b.example/",),
    ]
