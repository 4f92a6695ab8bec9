"""Facts of pages and links: kept as told, bounded, never a reason to refuse a visit, and no statement where none is."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphbrain import Brain, Failed, Fetched, Hint, Link
from tests.integration.conftest import HandClock

PAGE = ("title", "canonical", "noindex", "language", "size", "content_type", "fetch_seconds")


def page(brain: Brain, url: str) -> list[Any]:
    """The facts that stand on a page."""
    text = f"MATCH (p:Page {{url: $url}}) RETURN {', '.join(f'p.{name}' for name in (*PAGE, 'change_times'))}"
    return brain.graph.read(lambda tx: tx.ask("facts", text, {"url": url})[1][0], "facts")


def links(brain: Brain, url: str) -> dict[str, tuple[str | None, str | None]]:
    """Target → (anchor, rel) of a page's links."""
    text = "MATCH (:Page {url: $url})-[r:LINKS]->(q) RETURN q.url, r.anchor, r.rel"
    rows = brain.graph.read(lambda tx: tx.ask("facts", text, {"url": url})[1], "facts")
    return {target: (anchor, rel) for target, anchor, rel in rows}


def sent(brain: Brain, report: Fetched) -> Counter[str]:
    """The statements that a report sends."""
    counted: Counter[str] = Counter()
    with brain.graph.trace(lambda name, *_: counted.update([name])):
        assert brain.report([report])[0].accepted
    return counted


def test_facts_are_kept_as_told_until_told_anew(brain: Brain, clock: HandClock) -> None:
    url = "http://a.example/"
    told = Fetched(
        url,
        [
            Link(f"{url}b", anchor=" to\tb ", rel="UGC nofollow me"),
            Link(f"{url}b", anchor="b", rel="nofollow"),
            f"{url}c",
        ],
        fetched_at=clock(),
        title="  A\n title ",
        canonical="x/../c",
        noindex=True,
        language="en",
        size=12,
        content_type="Text/HTML; charset=utf-8",
        seconds=0.25,
        body_hash="1",
    )
    counted = sent(brain, told)
    assert counted["visits/write"] == counted["facts/links"] == 1
    assert page(brain, url) == ["A title", f"{url}c", True, "en", 12, "text/html", 0.25, None]
    assert links(brain, url) == {f"{url}b": ("to b", "nofollow"), f"{url}c": (None, None)}
    # A visit that tells none leaves them, and sends no statement for them; one that finds a change tells when.
    counted = sent(brain, Fetched(url, [f"{url}b", f"{url}c"], fetched_at=clock.pass_(60.0), body_hash="1"))
    assert not [name for name in counted if name.startswith("facts/")]
    assert page(brain, url)[0] == "A title" and links(brain, url)[f"{url}b"] == ("to b", "nofollow")
    times = []
    for number in range(12):
        times.append(clock.pass_(60.0))
        sent(brain, Fetched(url, [f"{url}b"], fetched_at=times[-1], body_hash=f"x{number}"))
    assert page(brain, url)[-1] == times[-10:]
    # Told anew, all are replaced.
    sent(
        brain, Fetched(url, [Link(f"{url}b", anchor="B")], fetched_at=clock.pass_(60.0), title="Other", body_hash="x11")
    )
    assert page(brain, url)[:5] == ["Other", None, False, None, None]
    assert links(brain, url) == {f"{url}b": ("B", None)}


def test_what_pages_say_is_bounded_and_refuses_no_visit(brain: Brain) -> None:
    url = "http://a.example/"
    long = Link(f"{url}b", anchor="word " * 1000 + "\ud800", rel="x" * 10_000)
    answer = brain.report([Fetched(url, [long], title="\ud800" + "t" * 5000, canonical="http://[", language="l" * 99)])[
        0
    ]
    assert answer.accepted and not answer.links_refused
    title, canonical, _, language, *_ = page(brain, url)
    assert (len(title), canonical, len(language)) == (300, None, 35)
    anchor, rel = links(brain, url)[f"{url}b"]
    assert anchor is not None and len(anchor) <= 200 and rel is None
    for wrong, said in (
        ({"title": 3}, "title must be text"),
        ({"size": -1}, "size must be"),
        ({"noindex": 1}, "noindex"),
    ):
        answer = brain.report([Fetched(f"{url}wrong", **wrong)])[0]  # type: ignore[arg-type]
        assert not answer.accepted and said in answer.reason
    answer = brain.report([Fetched(f"{url}d", [Link(f"{url}e", anchor=3)])])[0]  # type: ignore[arg-type]
    assert answer.accepted and "anchor must be text" in answer.links_refused[0][1]


def test_a_sitemap_is_remembered_after_other_hints(brain: Brain, clock: HandClock) -> None:
    url = "http://a.example/"
    brain.hint([Hint(url, at=clock() - 10.0, kind="sitemap")])
    named = clock()
    clock.pass_(60.0)
    brain.hint([Hint(url, at=clock(), kind="ping")])
    text = "MATCH (p:Page) RETURN p.in_sitemap, p.hinted_by"
    assert brain.graph.read(lambda tx: tx.ask("facts", text, {})[1], "facts") == [[named, "ping"]]


def test_a_page_tells_when_visits_changed_its_state(brain: Brain, clock: HandClock) -> None:
    """The last ten times, with what was left; a first fetch, and a visit that changes nothing of it, write nothing."""
    url, times = "http://a.example/", list[float]()

    def told() -> list[Any]:
        text = "MATCH (p:Page {url: $url}) RETURN p.state_times, p.states_before, p.state"
        return brain.graph.read(lambda tx: tx.ask("facts", text, {"url": url})[1][0], "facts")

    sent(brain, Fetched(url, fetched_at=clock()))
    sent(brain, Fetched(url, fetched_at=clock.pass_(60.0)))
    sent(brain, Failed(url, status=503, fetched_at=clock.pass_(60.0)))
    assert told() == [None, None, "known"]
    # It fails, twice, is refused meanwhile, and comes again.
    for status in (500, 503, 404):
        sent(brain, Failed(url, status=status, fetched_at=clock.pass_(60.0)))
        assert told()[1] == ["known"]
    sent(brain, Fetched(url, fetched_at=clock.pass_(60.0)))
    assert told()[1:] == [["known", "failing"], "known"]
    for number in range(12):
        times.append(clock.pass_(60.0))
        elsewhere = f"{url}b" if number % 2 == 0 else None
        sent(brain, Fetched(url, redirected_to=elsewhere, fetched_at=times[-1]))
    assert told() == [times[-10:], ["known", "alias"] * 5, "known"]
    began = clock.pass_(86_400.0)
    sent(brain, Failed(url, status=410, fetched_at=began))
    while told()[2] != "gone":
        assert told()[0] == [*times[-9:], began]
        sent(brain, Failed(url, status=410, fetched_at=clock.pass_(86_400.0)))
    assert told() == [[*times[-8:], began, clock()], [*["known", "alias"] * 4, "known", "failing"], "gone"]


def test_lists_are_kept_cut_and_emptied(brain: Brain, clock: HandClock) -> None:
    url = "http://a.example/"
    names = ("titles", "descriptions", "h1", "words", "hreflang", "requisites", "structured")

    def kept() -> list[Any]:
        text = f"MATCH (p:Page {{url: $url}}) RETURN {', '.join(f'p.{name}' for name in names)}"
        return brain.graph.read(lambda tx: tx.ask("facts", text, {"url": url})[1][0], "facts")

    body = b"<!doctype html><p>one two three"
    lists = {"titles": ["head a", "head b"], "hreflang": ["de /de/../en"], "structured": ["json-ld Product"]}
    sent(
        brain,
        Fetched(
            url,
            fetched_at=clock.pass_(60.0),
            body=body,
            h1=(),
            descriptions=["d" * 9_000],
            requisites=["image http://x/"],
            **lists,
        ),
    )
    descriptions = ["d" * 500]
    assert kept() == [
        ["head a", "head b"],
        descriptions,
        [],
        3,
        [f"de {url}en"],
        ["image http://x/"],
        ["json-ld Product"],
    ]
    page = brain.page(url)
    assert (page.h1, page.words, page.titles) == ([], 3, ["head a", "head b"])
    # A visit without facts leaves them; one with a fact replaces them all.
    sent(brain, Fetched(url, fetched_at=clock.pass_(60.0), body=body))
    assert kept()[1] == descriptions
    sent(brain, Fetched(url, fetched_at=clock.pass_(60.0), body=body, words=7))
    assert kept() == [None, None, None, 7, None, None, None]
    # The lists are bounded, each and in all.
    sent(
        brain,
        Fetched(
            url,
            fetched_at=clock.pass_(60.0),
            h1=["x"] * 9,
            requisites=[f"script http://x/{'y' * 90}{number}" for number in range(999)],
        ),
    )
    assert len(kept()[2]) == 5 and 15_000 < sum(len(item) for item in kept()[5]) <= 16_000
    for wrong, said in (({"h1": "text"}, "h1 must be a list"), ({"words": -1}, "words must be a whole number")):
        answer = brain.report([Fetched(f"{url}wrong", **wrong)])[0]  # type: ignore[arg-type]
        assert not answer.accepted and said in answer.reason
    # A redirect for now takes them away.
    sent(brain, Fetched(url, fetched_at=clock.pass_(60.0), status=302, led_to=[f"{url}x"], h1=["of the target"]))
    assert kept() == [None] * 7
