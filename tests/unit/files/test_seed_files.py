"""What kinds of file URLs are taken from, and what is refused with what takes it."""

from __future__ import annotations

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.files.seed_files import urls_in

A, B = "http://a.example/ddl.html", "http://a.example/x?q=1,2"


@pytest.mark.parametrize(
    "text",
    [
        f"# mine\n{A}\n\n{B}\n",
        f'title,url,score\nDDL,{A},0.9\n"x, y","{B}",1\n',
        f"URL\ttitle\n{A}\tDDL\n{B}\t\n",
        f'address;title\n{A};DDL\n"{B}";x\n',
        f"id\tPage URL\n\t{A}\n2\t{B}\n",
        f'url,title\r\n{A},"DDL,\r\n\r\nand more"\r\n"{B}",x\r\n',
        f'{{"url": "{A}", "score": 1}}\n{{"url": "{B}"}}\n',
        f" CDX N b a m s k r M S V g\nexample,a)/ddl.html 20260101000000 {A} text/html 200 X - - 9 0 f.warc.gz\n"
        f"example,a)/x?q=1,2 20260101000000 {B} text/html 200 X - - 9 0 f.warc.gz\n",
        f'{{"offset": "0", "warc-type": "warcinfo"}}\n{{"offset": "9", "warc-target-uri": "{A}"}}\n'
        f'{{"offset": "12", "warc-target-uri": "{B}"}}\n',
        f'example,a)/ddl.html 20260101000000 {{"url": "{A}", "status": "200"}}\n'
        f'example,a)/x?q=1,2 20260101000000 {{"url": "{B}"}}\n',
    ],
)
def test_a_file_is_known_by_what_is_in_it(text: str) -> None:
    assert list(urls_in(text.splitlines(keepends=True))) == [A, B]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{A},DDL,0.9\n{A}2,DML,0.8\n", "columns between commas.*--plain"),
        (f"{A}\tDDL\n", "columns between tabs"),
        (f'{A},"DDL, all of it",0.9\n{A}2,DML,0.8\n', "columns between commas"),
        ("<?xml version='1.0'?>\n<urlset>\n", "graphbrain hint"),
        ('["http://a.example/"]\n', "JSON array"),
        ("WARC/1.1\n", "CDXJ"),
        ("\x1f\x8b\x08\x00\n", "no text in UTF-8"),
        (f"title,url\nDDL,{A}\nDML,\n", "Line 3 has no 'url'"),
        ('{"url": "http://a.example/"}\n{"loc": 1}\n', "Line 2 has no 'url'"),
        ('{"url": "http://a.example/"}\nhttp://a.example/\n', "Line 2 is no JSON"),
    ],
)
def test_what_is_of_another_kind_is_refused(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        list(urls_in(text.splitlines()))


def test_a_list_is_one_when_it_is_said_to_be() -> None:
    assert list(urls_in([f"{A},DDL", f"{A},DML"], plain=True)) == [f"{A},DDL", f"{A},DML"]
    assert list(urls_in(["http://a.example/1,2", A])) == ["http://a.example/1,2", A]
    assert list(urls_in([])) == []
