"""Requests as pages with notes, and back; the settings of a Scrapy project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotSupported,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse
from scrapy.settings import Settings
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from graphbrain import Claim, Failed, Fetched, Link
from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.urls.normalization import resolved
from graphbrain.crawl.scrapy.documents import Joined
from graphbrain.crawl.scrapy.requests import (
    CLAIM,
    LONGEST_NOTE,
    MOST_OF_SITEMAP,
    Reader,
    ScrapyOptions,
    express,
    request_for,
    resource_request,
    userless,
)
from graphbrain.crawl.scrapy.visits import ScrapyVisit, error_text, fault_of

URL = "http://a.example/page?b=1"


class Some(Spider):
    name = "some"

    def parse_thing(self, response: Response, **_: Any) -> None:
        """Reads a thing."""

    def failed(self, failure: Any) -> None:
        """Hears of a failure."""


SPIDER = Some()
CLAIMED = Claim(URL, "k" * 32, "t" * 32, 0.0, "a.example", 3, '"tag"', "yesterday")


def test_a_plain_request_needs_no_note() -> None:
    passing = {"depth": 2, "download_slot": "a", CLAIM: CLAIMED, "_private": object(), "graphbrain_relevance": 0.3}
    for request in (
        Request(URL),
        Request(URL, SPIDER.parse, headers={"Referer": "http://b.example/"}, meta=passing, priority=7),
    ):
        assert express(request, SPIDER) == ""


@pytest.mark.parametrize(
    ("told", "wait"),
    [("600", 600.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 60.0), ("-1", None), ("soon", None), (None, None)],
)
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_retry_after_is_reported(status: int, told: str | None, wait: float | None) -> None:
    """A date counts from the server's own."""
    head = {"Date": "Wed, 21 Oct 2026 07:27:00 GMT", **({} if told is None else {"Retry-After": told})}
    visit = ScrapyVisit(1, CLAIMED, response=Response(URL, status, headers=head))
    assert visit.result(Reader(ScrapyOptions())) == Failed(URL, CLAIMED, status, retry_after=wait)


def test_what_a_note_says_makes_the_request_again() -> None:
    given: dict[str, Any] = {
        "callback": SPIDER.parse_thing,
        "errback": SPIDER.failed,
        "cb_kwargs": {"item": {"name": "Großmut", "n": [1, 2.5, None]}},
        "meta": {"colour": "red"},
        "headers": {"X-One": ["a", "b"]},
    }
    note = express(Request(URL, **given), SPIDER)
    assert note
    made = request_for(CLAIMED, note, SPIDER)
    assert (made.callback, made.errback, made.cb_kwargs) == (given["callback"], given["errback"], given["cb_kwargs"])
    assert made.meta == {"colour": "red", "depth": 3, CLAIM: CLAIMED}
    assert made.headers.getlist("X-One") == [b"a", b"b"]
    assert (made.headers["If-None-Match"], made.headers["If-Modified-Since"]) == (b'"tag"', b"yesterday")
    assert express(made, SPIDER) == note.replace(
        '"headers":{"X-One":["a","b"]}',
        '"headers":{"X-One":["a","b"],"If-None-Match":["\\"tag\\""],"If-Modified-Since":["yesterday"]}',
    )


@pytest.mark.parametrize(
    "request_",
    [
        Request(URL, method="HEAD"),
        FormRequest(URL, formdata={"a": "b"}),
        Request(URL, cookies={"a": "b"}),
        Request(URL, meta={"cookiejar": 1}),
        Request("file:///etc/hostname"),
        Request(URL, lambda _: None),
        Request(URL, Some().parse_thing),
        Request(URL, SPIDER.parse_thing, cb_kwargs={"item": object()}),
        Request(URL, meta={"pair": (1, 2)}),
        Request(URL, meta={1: "one"}),
        Request(URL, meta={"nothing": float("nan")}),
        Request(URL, meta={"much": "x" * LONGEST_NOTE}),
    ],
    ids=lambda request: str(request)[:30],
)
def test_what_no_note_can_say_stays_with_its_process(request_: Request) -> None:
    assert express(request_, SPIDER) is None


def test_a_note_for_another_spider_is_refused() -> None:
    with pytest.raises(BadInput, match="parse_other"):
        request_for(CLAIMED, '{"callback":"parse_other"}', SPIDER)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"GRAPHBRAIN_DELAY": 1}, "GRAPHBRAIN_DELAY is not a setting"),
        ({"GRAPHBRAIN_LINKS": "some"}, "'followed' or 'all'"),
        ({"GRAPHBRAIN_PATIENCE": "long"}, "seconds"),
        ({"GRAPHBRAIN_PATIENCE": "nan"}, "seconds"),
        ({"GRAPHBRAIN_RELEVANCE": "nowhere.at.all"}, "cannot be imported|names nothing"),
        ({"GRAPHBRAIN_RELEVANCE": "graphbrain.crawl.scrapy.requests.CLAIM"}, "must be a function"),
        ({"GRAPHBRAIN_TOPIC": "the"}, "at least one word"),
        ({"GRAPHBRAIN_TOPIC": ["no such file"]}, "list of files"),
        ({"GRAPHBRAIN_TOPIC": 7}, "list of files"),
        ({"GRAPHBRAIN_TOPIC": "owls", "GRAPHBRAIN_RELEVANCE": len}, "not both"),
    ],
)
def test_a_wrong_setting_is_named_in_a_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        ScrapyOptions.of(Settings(settings))


def test_settings_go_to_the_brain_or_stay(tmp_path: Path) -> None:
    example = tmp_path / "owl.html"
    example.write_text("<p>owls", encoding="utf-8")
    given = {"GRAPHBRAIN_URI": "bolt://x", "GRAPHBRAIN_LINKS": "all", "GRAPHBRAIN_PATIENCE": "0", "BOT_NAME": "b"}
    options = ScrapyOptions.of(Settings({**given, "GRAPHBRAIN_TOPIC": [str(example)]}))
    assert options.brain == {"uri": "bolt://x"}
    assert options.every_link and options.patience == 0 and options.topic is not None


def test_a_spiders_own_guess_goes_over_the_topics() -> None:
    body = b"<p>owls and more owls<a href='/x'>owls</a><a href='/y'>trains</a><a href='/z'>owls</a><script>trains"
    response = HtmlResponse(URL, body=body, encoding="utf-8")
    followed: dict[str, tuple[str | None, float | None]] = {
        "http://a.example/x": (None, None),
        "http://a.example/y": (None, None),
        "http://a.example/z": (None, 0.125),
        "http://a.example/unseen": (None, 7.0),
    }
    near, links = Reader(ScrapyOptions.of(Settings({"GRAPHBRAIN_TOPIC": "owls"}))).read(response, followed)
    guesses = {link.url.rsplit("/", 1)[1]: link.relevance for link in links}
    assert near is not None and near > 0.5
    assert guesses["z"] == 0.125 and guesses["unseen"] == near / 2
    assert (guesses["x"] or 0) > near / 2 > (guesses["y"] or 0) > 0


def test_links_that_are_followed_have_their_texts_and_rel() -> None:
    body = b"""<base href='/in/'><a href='x'> The
        <b>first</b></a><a href='x' rel='nofollow'>another</a><map><area href='/y' rel='UGC nofollow'></map>
        <a href='http://['>bad</a><a>none</a><a href='unfollowed'>unfollowed</a>"""
    response = HtmlResponse(URL, body=body, encoding="utf-8")
    followed: dict[str, tuple[str | None, float | None]] = {
        "http://a.example/in/x": (None, None),
        "http://a.example/y": ("the spider's own", 0.5),
        "http://a.example/made": (None, None),
    }
    near, links = Reader(ScrapyOptions()).read(response, followed)
    assert near is None and links == [
        Link("http://a.example/in/x", anchor="The first"),
        Link("http://a.example/y", 0.5, anchor="the spider's own", rel="nofollow ugc"),
        "http://a.example/made",
    ]
    # The same where all links of a page count, whatever an extractor knows of them.
    read = Reader(ScrapyOptions.of(Settings({"GRAPHBRAIN_LINKS": "all"}))).read(response, {})[1]
    assert {link.url: link.rel for link in read if isinstance(link, Link)} == {
        "http://a.example/in/x": None,
        "http://a.example/y": "nofollow ugc",
        "http://a.example/in/unfollowed": None,
        "http://[": None,  # the brain's answer names the fault
    }


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"a": "<a href=/b>"}', b"[1]", b"null", b"3", b"%PDF a.json", b"\xff\x00"]
)
@pytest.mark.parametrize("kind", [JsonResponse, TextResponse, HtmlResponse, XmlResponse])
def test_whatever_says_that_it_is_text_can_be_read(kind: type[TextResponse], body: bytes) -> None:
    for options in (
        ScrapyOptions(every_link=True),
        ScrapyOptions.of(Settings({"GRAPHBRAIN_TOPIC": "bread rye sourdough"})),
    ):
        report = ScrapyVisit(1, CLAIMED, response=kind(URL, body=body)).result(Reader(options))
        assert isinstance(report, Fetched) and report.status == 200


def test_a_fetch_has_the_seconds_that_scrapy_has_measured() -> None:
    request = Request(URL, meta={"download_latency": 0.25})
    for status, kind in ((200, Fetched), (304, Fetched), (404, Failed)):
        report = ScrapyVisit(1, CLAIMED, response=Response(URL, status, request=request)).result(
            Reader(ScrapyOptions())
        )
        assert isinstance(report, kind) and report.seconds == 0.25
    cached = ScrapyVisit(1, CLAIMED, response=Response(URL, request=Request(URL))).result(Reader(ScrapyOptions()))
    assert isinstance(cached, Fetched) and cached.seconds is None


def test_hrefs_lead_where_browsers_find_them() -> None:
    bases = ("http://a.example", "http://a.example/", "https://a.example/b/c.html", "http://a.example/b?q=1#f")
    bases += ("http://a.example/b/?q=/x/y", "http://a.example:81/b;p/c;q")
    parts = ("", "/", "?", "#", ".", "..", ":", ";", "b", "c.html", "x:y", "//", "é", "d=1", "\\")
    hrefs = {one + two + three for one in parts for two in parts for three in parts}
    hrefs |= {"https://b.example/x/../y", "mailto:a@b.example", "javascript:void(0)", "http://[b/"}
    for base in bases:
        join = Joined(base)
        for href in sorted(hrefs):
            try:
                wanted = href if href.startswith(("http://", "https://")) else resolved(base, href)
            except BadInput:
                wanted = ""
            front, mark, fragment = wanted.partition("#")
            path, asks, query = front.partition("?")
            wanted = f"{path}{asks}{query.replace('é', '%C3%A9')}{mark}{fragment}"
            assert join[href] == join[href] == wanted, (base, href)
    assert Joined("http://a.example/b/")[" c\n"] == "http://a.example/b/c"


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


FAULTS = [
    (IgnoreRequest("Forbidden by robots.txt"), "not_sent"),
    (NotSupported("ftp"), "not_sent"),
    (UnsupportedURLSchemeError("x"), "not_sent"),
    (KeyError("a middleware's own"), "not_sent"),
    (CannotResolveHostError("x"), "silent"),
    (DownloadConnectionRefusedError("x"), "silent"),
    (DownloadTimeoutError("x"), "silent"),
    (ConnectionResetError(), "silent"),
    (ConnectionLost(), "silent"),
    (DownloadFailedError("x"), "silent"),
    (_caused(DownloadFailedError("x"), ResponseNeverReceived([Failure(ConnectionLost())])), "silent"),
    (
        _caused(DownloadFailedError("x"), ResponseNeverReceived([Failure(ParseError("no HTTP", b"x"))])),
        "not_understood",
    ),
    (_caused(DownloadFailedError("x"), ResponseFailed([Failure(ConnectionLost())])), "not_understood"),
    (DownloadCancelledError("larger than DOWNLOAD_MAXSIZE"), "not_understood"),
    (ResponseDataLossError(), "not_understood"),
]


@pytest.mark.parametrize(
    ("error", "fault"), FAULTS, ids=lambda what: what if isinstance(what, str) else repr(what)[:40]
)
def test_whose_fault_it_is_that_there_is_no_answer(error: Exception, fault: str) -> None:
    visit = ScrapyVisit(1, CLAIMED)
    visit.unfetched(error)
    report = visit.result(Reader(ScrapyOptions()))
    assert isinstance(report, Failed) and (report.status, report.fault) == (None, fault)
    assert fault_of(error) == fault


def test_an_error_has_its_reasons_as_words() -> None:
    failed = ResponseNeverReceived([Failure(ConnectionDone())])
    assert error_text(failed) == "ResponseNeverReceived: Connection was closed cleanly."
    wrapped = OSError(str(failed))
    wrapped.__cause__ = failed
    assert error_text(wrapped) == "OSError: Connection was closed cleanly."
    assert error_text(ValueError("no number")) == "ValueError: no number"


def test_what_was_never_asked_is_no_silence() -> None:
    """A claim whose callback the spider lacks, and a request that a middleware has dropped without a word."""
    report = ScrapyVisit(1, CLAIMED).result(Reader(ScrapyOptions()))
    assert isinstance(report, Failed) and report.fault == "not_sent"


def test_a_request_is_sent_without_a_user() -> None:
    request = Request("http://u:p@a.example/x")
    assert userless(request).url == "http://a.example/x"
    plain = Request("http://a.example/x@y")
    assert userless(plain) is plain


@pytest.mark.parametrize(
    ("given", "kinds"),
    [("page,robots", "page robots"), (["page", "robots", "sitemap", "link"], "page robots sitemap link")],
)
def test_kinds_are_a_list_or_a_text(given: object, kinds: str) -> None:
    assert ScrapyOptions.of(Settings({"GRAPHBRAIN_KINDS": given})).kinds == set(kinds.split())
    assert ScrapyOptions.of(Settings({})).kinds == {"page"}


@pytest.mark.parametrize("given", ["robots", "page,robot", [], "page,links"])
def test_kinds_that_cannot_be_fetched_are_refused(given: object) -> None:
    with pytest.raises(SettingsError, match="GRAPHBRAIN_KINDS must name 'page'"):
        ScrapyOptions.of(Settings({"GRAPHBRAIN_KINDS": given}))


def resource_claim(kind: str, **more: Any) -> Claim:
    url = "http://a.example/robots.txt"
    return Claim(url, f"{kind}:{url}", "t" * 32, 0.0, "a.example", 0, **more)


def test_a_resource_is_fetched_by_no_rules_but_the_brains() -> None:
    request = resource_request(resource_claim("sitemap", etag='"tag"'))
    assert request.dont_filter and request.headers["If-None-Match"] == b'"tag"'
    meta = request.meta
    names = (
        "dont_redirect",
        "dont_retry",
        "dont_cache",
        "allow_offsite",
        "handle_httpstatus_all",
        "dont_obey_robotstxt",
    )
    assert all(meta[name] for name in names) and meta["download_maxsize"] == MOST_OF_SITEMAP
    assert "download_maxsize" not in resource_request(resource_claim("robots")).meta, "its head counts"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (Response("http://a.example/robots.txt", 200, {"ETag": '"x"'}, b"text"), {"status": 200, "body": b"text"}),
        (
            Response("http://a.example/robots.txt", 302, {"Location": "/r"}, b"no"),
            {"redirected_to": "http://a.example/r"},
        ),
        (Response("http://a.example/robots.txt", 404, {}, b"no"), {"status": 404, "retry_after": None}),
        (Response("http://a.example/robots.txt", 503, {"Retry-After": "7"}), {"status": 503, "retry_after": 7.0}),
        (Response("http://a.example/robots.txt", 304), {"status": 304, "body": None}),
        (None, {"status": None, "fault": "silent", "error": "gone"}),
    ],
)
@pytest.mark.parametrize("kind", ["robots", "sitemap"])
def test_what_is_reported_of_a_resource(response: Response | None, expected: dict[str, Any], kind: str) -> None:
    visit = ScrapyVisit(1, resource_claim(kind), response=response, error="" if response else "gone", fault="silent")
    report = visit.result(Reader(ScrapyOptions()))
    assert report is not None and report.claim == visit.claim
    assert {name: getattr(report, name) for name in expected} == expected
    assert isinstance(report, Fetched) == (response is not None and response.status < 400)
    visit.broken_off = True
    assert visit.result(Reader(ScrapyOptions())) is None
