"""What site auditors ask: planted pages, and of each question all rows that it must have."""

from __future__ import annotations

import time
from typing import Any

from graphbrain import Brain, Failed, Fetched, Hint, Link, Resource

A, B = "https://a.example", "https://b.example"
DAY = 86_400.0
HTML = {"content_type": "text/html", "size": 9_000}


def rows(brain: Brain, question: str, *columns: str, **given: Any) -> list[tuple[Any, ...]]:
    answer = brain.ask(question, limit="all", **given)
    return sorted(zip(*(answer.column(column) for column in columns), strict=True), key=repr)


def test_titles_descriptions_and_headings(brain: Brain) -> None:
    good = "A text of some length that says what this page is about, in one sentence."
    brain.report(
        [
            Fetched(f"{A}/good", title="About the good page", descriptions=[good], h1=["A good page"], **HTML),
            Fetched(f"{A}/none", title="About the page of none", descriptions=(), h1=(), **HTML),
            Fetched(f"{A}/same/1", title="About the one", descriptions=["Same " * 20], h1=["Same"], **HTML),
            Fetched(f"{A}/same/2", title="About the other", descriptions=["Same " * 20], h1=["Same"], **HTML),
            Fetched(f"{B}/same", title="About the third", descriptions=["Same " * 20], h1=["Same"], **HTML),
            Fetched(f"{A}/title", title="As it is titled", descriptions=["As it is titled"], h1=["as it is Titled"]),
            Fetched(f"{A}/many", title="About many of them", descriptions=["d" * 400, good], h1=["x" * 99, "two"]),
            Fetched(f"{A}/titles", title="The first of them", titles=["head The first of them", "body two"], **HTML),
            Fetched(f"{A}/unknown", title="Reported by another", **HTML),
        ]
    )
    assert rows(brain, "descriptions", "url", "problem") == [
        (f"{A}/many", "several"),
        (f"{A}/many", "too long"),
        (f"{A}/none", "missing"),
        (f"{A}/same/1", "same"),
        (f"{A}/same/2", "same"),
        (f"{A}/title", "as title"),
        (f"{A}/title", "too short"),
    ]
    assert rows(brain, "headings", "url", "problem") == [
        (f"{A}/many", "several"),
        (f"{A}/many", "too long"),
        (f"{A}/none", "missing"),
        (f"{A}/same/1", "same"),
        (f"{A}/same/2", "same"),
        (f"{A}/title", "as title"),
    ]
    assert rows(brain, "headings", "url", "pages", problem="same") == [(f"{A}/same/1", 2), (f"{A}/same/2", 2)]
    assert rows(brain, "titles", "url", "problem", host="a.example") == [
        (f"{A}/title", "as heading"),
        (f"{A}/titles", "in the body"),
        (f"{A}/titles", "several"),
    ]


def test_few_words_and_slow_pages(brain: Brain) -> None:
    brain.report(
        [
            Fetched(f"{A}/few", body=b"<!doctype html><p>six words on such a page", seconds=0.2, **HTML),
            Fetched(f"{A}/many", body=b"<!doctype html><p>" + b"word " * 60, seconds=2.5, **HTML),
            Fetched(f"{A}/small", title="x", size=10, content_type="text/html"),
            Fetched(f"{A}/huge", words=900, size=2_000_000, content_type="text/html"),
        ]
    )
    assert rows(brain, "thin-and-huge-pages", "url", "problem", "words") == [
        (f"{A}/few", "thin", 6),
        (f"{A}/huge", "huge", 900),
        (f"{A}/small", "thin", None),
    ]
    assert rows(brain, "slow-pages", "url", "seconds") == [(f"{A}/many", 2.5)]
    assert rows(brain, "slow-pages", "url", seconds=0.1) == [(f"{A}/few",), (f"{A}/many",)]


def test_why_pages_cannot_be_indexed(brain: Brain) -> None:
    error = b"<!doctype html><p>There is no such page here, we are sorry; try the home page or our search instead."
    kinds = ["robots", "outside", "silent", "broken", "missing", "moved", "led", "refresh", "image", "waiting"]
    brain.seed([f"{A}/"])
    brain.change(deny_urls="/outside")
    brain.report(
        [
            Fetched(f"{A}/", [f"{A}/{kind}" for kind in kinds], title="Home", **HTML),
            Fetched(f"{A}/pdf", content_type="application/pdf", size=3),
            Failed(f"{A}/silent", error="time-out"),
            Failed(f"{A}/broken", status=500),
            Failed(f"{A}/missing", status=404, body=error),
            Fetched(f"{A}/moved", redirected_to=f"{A}/"),
            Fetched(f"{A}/led", status=302, led_to=[f"{A}/"]),
            Fetched(f"{A}/refresh", led_to=[f"{A}/"], noindex=True, **HTML),
            Fetched(f"{A}/image", content_type="image/png", size=9),
            Fetched(f"{A}/noindex", noindex=True, canonical=f"{A}/", **HTML),
            Fetched(f"{A}/canonical", canonical=f"{A}/", **HTML),
            Fetched(f"{A}/soft", body=error, **HTML),
        ]
    )
    brain.set_robots("a.example", "User-agent: *\nDisallow: /robots")
    wanted = {
        "robots": ("blocked by robots.txt", []),
        "silent": ("no answer", []),
        "broken": ("5xx", []),
        "missing": ("4xx", []),
        "moved": ("permanent redirect", []),
        "led": ("temporary redirect", []),
        "refresh": ("temporary redirect", ["noindex"]),
        "image": ("not HTML or PDF", []),
        "noindex": ("noindex", ["canonical to another"]),
        "canonical": ("canonical to another", []),
        "soft": ("soft 404", []),
    }
    found = rows(brain, "indexability", "url", "reason", "also")
    assert {url.removeprefix(f"{A}/"): (reason, also) for url, reason, also in found} == wanted
    assert rows(brain, "indexability", "url", reason="indexable") == [(f"{A}/",), (f"{A}/pdf",)]
    assert rows(brain, "indexability", "url", reason="not fetched yet") == [(f"{A}/waiting",)]
    assert rows(brain, "indexability", "url", reason="outside the scope") == [(f"{A}/outside",)]
    answer = brain.ask("indexability-shares")
    counts = dict(zip(answer.column("reason"), answer.column("pages"), strict=True))
    assert (counts["indexable"], counts["temporary redirect"], sum(counts.values())) == (2, 2, 15)
    table = brain.frame("pages").to_pydict()
    told = dict(zip(table["url"], zip(table["indexability"], table["indexability_also"], strict=True), strict=True))
    assert {name: told[f"{A}/{name}"] for name in wanted} == wanted
    assert [told[f"{A}/{name}"][0] for name in ("", "waiting", "outside")] == [
        "indexable",
        "not fetched yet",
        "outside the scope",
    ]


def test_faults_of_sitemaps(brain: Brain) -> None:
    now = time.time()
    brain.seed([f"{A}/", f"{B}/"])
    brain.report(
        [
            *(Fetched(f"{A}/{name}", body=name.encode(), title=name, **HTML) for name in ("", "listed")),
            Fetched(f"{A}/lies", body=b"lies", title="lies", fetched_at=now - 9 * DAY, **HTML),
            Fetched(f"{A}/noindex", noindex=True, **HTML),
            Fetched(f"{A}/moved", redirected_to=f"{A}/"),
            Failed(f"{A}/gone", status=410),
            Fetched(f"{B}/", title="No sitemap lists pages of this host", **HTML),
        ]
    )
    names = ("listed", "noindex", "moved", "gone", "waiting")
    brain.hint([Hint(f"{A}/{name}", kind="sitemap", at=0.0) for name in names])
    brain.hint([Hint(f"{A}/lies", kind="sitemap", at=now - 3 * DAY)])
    brain.report([Fetched(f"{A}/lies", body=b"lies", title="lies", fetched_at=now, **HTML)])
    assert rows(brain, "sitemap-entries", "url", "problem") == [
        (f"{A}/", "no sitemap lists it"),
        (f"{A}/gone", "4xx"),
        (f"{A}/lies", "its date is wrong"),
        (f"{A}/moved", "permanent redirect"),
        (f"{A}/noindex", "noindex"),
    ]
    assert rows(brain, "sitemap-entries", "url", problem="4xx") == [(f"{A}/gone",)]


def test_versions_in_other_languages(brain: Brain) -> None:
    def page(name: str, *versions: str, **facts: Any) -> Fetched:
        return Fetched(f"{A}/{name}", hreflang=[item.replace(" /", f" {A}/") for item in versions], **facts, **HTML)

    brain.report(
        [
            page("en", "en /en", "de-AT /de", "zh-Hant-TW /zh", "x-default /en"),
            page("de", "en /en", "de-AT /de"),
            page("zh", "zh-Hant-TW /zh"),
            page("bad", "en-UK /bad", "jp /bad", "deu /bad", "fr /fr/1", "fr /fr/2"),
            page("fr/1", "en /bad", "fr /fr/1", noindex=True),
            page("fr/2", "en /bad", "fr /fr/2", canonical="/en"),
            page("lost", "de /gone", "en /moved", "it /nowhere"),
            Failed(f"{A}/gone", status=404),
            Fetched(f"{A}/moved", redirected_to=f"{A}/en"),
        ]
    )
    assert rows(brain, "hreflang", "url", "problem", "code", "version") == sorted(
        [
            (f"{A}/en", "does not return", "zh-hant-tw", f"{A}/zh"),
            (f"{A}/bad", "no such code", "en-uk", f"{A}/bad"),
            (f"{A}/bad", "no such code", "jp", f"{A}/bad"),
            (f"{A}/bad", "no such code", "deu", f"{A}/bad"),
            (f"{A}/bad", "several for this code", "fr", f"{A}/fr/1"),
            (f"{A}/bad", "several for this code", "fr", f"{A}/fr/2"),
            (f"{A}/bad", "asks not to be found", "fr", f"{A}/fr/1"),
            (f"{A}/bad", "names another", "fr", f"{A}/fr/2"),
            (f"{A}/lost", "does not name itself", None, f"{A}/lost"),
            (f"{A}/lost", "fails", "de", f"{A}/gone"),
            (f"{A}/lost", "redirects", "en", f"{A}/moved"),
            (f"{A}/lost", "is not in the graph", "it", f"{A}/nowhere"),
        ],
        key=lambda row: repr((row[0], row[1], row[2], row[3])),
    )


def test_images_insecure_content_and_structured_data(brain: Brain) -> None:
    brain.report(
        [
            Fetched(
                f"{A}/",
                [f"{A}/x", "http://a.example/y", "http://b.example/"],
                requisites=[
                    "image https://a.example/1.png",
                    "image http://a.example/2.png A cat",
                    "image https://a.example/3.png ",
                    "script http://a.example/s.js",
                    "form http://a.example/f",
                ],
                structured=["json-ld Product", "invalid json-ld"],
            ),
            Fetched(f"{A}/x", requisites=["image https://a.example/3.png "], structured=["json-ld Product"]),
            Fetched(
                "http://b.example/",
                ["http://b.example/z"],
                requisites=["image http://b.example/a.png", "style http:/x"],
            ),
        ]
    )
    assert rows(brain, "images", "url", "missing", "images", "such_as") == [
        ("http://b.example/", 1, 1, ["http://b.example/a.png"]),
        (f"{A}/", 1, 3, ["https://a.example/1.png"]),
    ]
    assert rows(brain, "insecure-content", "url", "problem", "count", "such_as") == [
        (f"{A}/", "http links", 1, ["http://a.example/y"]),
        (f"{A}/", "insecure form", 1, ["http://a.example/f"]),
        (f"{A}/", "mixed content", 2, ["http://a.example/2.png", "http://a.example/s.js"]),
    ]
    assert rows(brain, "structured-data", "type", "pages", "such_as") == [
        ("invalid json-ld", 1, [f"{A}/"]),
        ("json-ld Product", 2, [f"{A}/", f"{A}/x"]),
    ]


def test_links_whose_text_says_nothing(brain: Brain) -> None:
    links = [Link(f"{A}/1", anchor="Click here"), Link(f"{A}/2", anchor="here"), Link(f"{A}/3", anchor="Of tea")]
    brain.report(
        [
            Fetched(f"{A}/", [*links, f"{A}/4", Link(f"{B}/", anchor="here")]),
            Fetched(f"{A}/1", [Link(f"{A}/2", anchor="here")]),
            Fetched(f"{A}/2", [f"{A}/3"]),  # its crawler reports no texts
        ]
    )
    assert rows(brain, "poor-anchors", "anchor", "links", "targets", "such_as") == [
        ("click here", 1, 1, [f"{A}/"]),
        ("here", 2, 1, [f"{A}/", f"{A}/1"]),
        (None, 1, 1, [f"{A}/"]),
    ]


def test_links_out_of_the_scope_that_redirect_or_fail(brain: Brain) -> None:
    moved, lost = "https://out.example/moved", "https://out.example/lost"
    brain.change(deny_hosts="out.example", delay_seconds=0.0)
    brain.report([Fetched(f"{A}/", [moved, lost])])
    assert brain.check_links() == 2
    for _ in range(4):
        for claim in brain.next_urls(9, kinds=("page", "link")):
            if claim.url == lost:
                brain.report([Resource(claim.url, claim, 404)])
            elif claim.url == moved:
                brain.report([Resource(claim.url, claim, 301, redirected_to="https://out.example/new")])
            else:
                brain.report([Resource(claim.url, claim, 200)])
    assert rows(brain, "external-redirects", "url", "status", "steps", "to", "at_last", "links", "linked_from") == [
        (moved, 301, 1, "https://out.example/new", 200, 1, [f"{A}/"])
    ]
    table = brain.frame("pages").to_pydict()
    known = dict(zip(table["url"], zip(table["failing"], table["status"], strict=True), strict=True))
    assert known[lost] == (True, 404) and known[moved] == (False, 200)


def test_a_page_that_fails_now_has_no_faults_of_its_former_content(brain: Brain) -> None:
    """Two pages with a fault of every kind are listed while they answer, and by no question once they are missing."""
    urls = [f"{A}/1", f"{A}/2"]
    facts = {"h1": (), "words": 10, "noindex": True, "structured": ["invalid json-ld"], "content_type": "text/html"}
    facts |= {"size": 100, "seconds": 9.0, "hreflang": [f"de {A}/none"], "requisites": ["image http://a.example/i.png"]}
    facts |= {"canonical": f"{A}/none", "canonicals": [f"head {A}/none", f"head {A}/1"], "descriptions": ()}
    body = b"<p>" + b"the same words of both pages and more " * 20
    brain.report([Fetched(url, body=body, title="short", **facts) for url in urls])
    questions = (
        *("titles", "descriptions", "headings", "images", "thin-and-huge-pages", "structured-data", "noindex-pages"),
        *("several-canonicals", "canonical-conflicts", "slow-pages", "insecure-content", "hreflang", "content-types"),
        *("same-titles", "duplicates", "text-duplicates", "near-duplicates"),
    )
    assert [name for name in questions if not brain.ask(name).rows] == []
    brain.report([Failed(url, status=404) for url in urls])
    assert [name for name in questions if brain.ask(name).rows] == []
    assert {each.title for each in brain.findings() if each.count} == {
        "Pages that fail",
        "Pages that search engines cannot index",
        "Hosts most of whose pages fail",
        "Pages that no page links to",
        "Hosts that answer slowly",
    }
