"""Faults planted in small webs, each beside the right answer: what is kept of pages and links, what questions say."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import pytest

from graphbrain import Brain, Failed, Fetched, Hint, Link
from graphbrain.analyst.dictionary import PAGE
from graphbrain.analyst.questions import ask, questions
from graphbrain.frontier.hosts.health import PAGE_FAULTS
from tests.integration.analyst.webs import A, B, C, D, E, crawl
from tests.verbs import neighbours

DAY = 86_400.0


def rows(brain: Brain, name: str, *columns: str, **given: object) -> list[Any]:
    """Some columns of an answer; a single one as it is."""
    answer = ask(brain.graph, name, **given)
    places = [answer.columns.index(column) for column in columns]
    picked = [tuple(row[place] for place in places) for row in answer.rows]
    return [row[0] for row in picked] if len(columns) == 1 else picked


# ---------------------------------------------------------------------- clicks


def test_clicks_are_counted_by_links_from_a_seed(brain: Brain) -> None:
    # / → one → two → deep, old → middle → new; a sitemap names deep, orphan and old; orphan links to child.
    brain.seed([f"{A}/"])
    brain.hint([Hint(f"{A}/{name}", kind="sitemap", at=0.0) for name in ("deep", "orphan", "old")])
    brain.report(
        [
            Fetched(f"{A}/", [f"{A}/one", f"{A}/old"]),
            Fetched(f"{A}/one", [f"{A}/two"]),
            Fetched(f"{A}/two", [f"{A}/deep"]),
            Fetched(f"{A}/orphan", [f"{A}/child"]),
            Fetched(f"{A}/old", redirected_to=f"{A}/middle"),
            Fetched(f"{A}/middle", redirected_to=f"{A}/new"),
        ]
    )
    brain.tend(0)
    wanted = dict(zip(("", "one", "two", "deep"), range(4), strict=True)) | dict.fromkeys(("old", "middle", "new"), 1)
    wanted |= dict.fromkeys(("orphan", "child"))
    by_url = {f"{A}/{name}": clicks for name, clicks in wanted.items()}
    assert {page.url: page.clicks for page in brain.dump_pages()} == by_url
    assert {url: brain.page(url).clicks for url in by_url} == by_url
    assert {row["url"]: row["clicks"] for row in brain.frame("pages").to_pylist()} == by_url
    assert rows(brain, "depth", "clicks", "pages") == [(0, 1), (1, 4), (2, 1), (3, 1), (None, 2)]
    # The frontier's own depth stays, and a hint without a time is not of 1970.
    assert (brain.page(f"{A}/orphan").depth, brain.page(f"{A}/orphan").hinted) == (1, None)
    assert {row["hinted"] for row in brain.frame("pages").to_pylist()} == {None}
    # A link that goes takes its clicks with it.
    brain.report([Fetched(f"{A}/two", [])])
    assert brain.page(f"{A}/deep").clicks is None and brain.page(f"{A}/deep").depth == 1


def test_clicks_agree_wherever_they_are_shown(brain: Brain) -> None:
    crawl(brain)
    found = {page.url: page.clicks for page in brain.dump_pages()}
    assert found == {url: brain.page(url).clicks for url in found}
    assert found == {row["url"]: row["clicks"] for row in brain.frame("pages").to_pylist()}


def test_a_sitemap_is_noted_whenever_it_is_read(brain: Brain) -> None:
    # Before the visit, after it without a time, and again; beside a ping, which is newer.
    brain.seed([f"{A}/"])
    named = [Hint(f"{A}/{name}", kind="sitemap", at=0.0) for name in ("early", "late", "both")]
    brain.hint(named[:1])
    brain.report([Fetched(f"{A}/", [f"{A}/late", f"{A}/unnamed"]), Fetched(f"{A}/late", []), Fetched(f"{A}/early", [])])
    brain.hint([named[1], named[2], Hint(f"{A}/both", kind="ping"), Hint(f"{A}/unnamed", kind="ping")])
    listed = {page.url for page in brain.dump_pages() if page.in_sitemap is not None}
    assert listed == {f"{A}/{name}" for name in ("early", "late", "both")}
    before = brain.page(f"{A}/late").in_sitemap or 0.0
    brain.hint(named)
    assert all((brain.page(url).in_sitemap or 0.0) > before for url in listed)
    assert rows(brain, "sitemap-coverage", "in_sitemap", "both", "only_sitemap", "only_crawl") == [(3, 2, 1, 1)]


# ---------------------------------------------------------------------- failing

FAULTS: dict[str, tuple[str, Failed]] = {
    "404": ("client", Failed("", status=404)),
    "403": ("client", Failed("", status=403)),
    "410": ("client", Failed("", status=410)),
    "429": ("refused", Failed("", status=429)),
    "503": ("refused", Failed("", status=503, retry_after=60.0)),
    "500": ("broken", Failed("", status=500)),
    "408": ("broken", Failed("", status=408)),
    "425": ("broken", Failed("", status=425)),
    "silent": ("silent", Failed("", error="TimeoutError: timed out")),
    "self": ("other", Failed("", status=302, error="redirects in a circle")),
}


def plant_faults(brain: Brain, first: bool) -> dict[str, str]:
    """URL → kind of the pages that fail, each on a host of its own; `first`: they were fetched before."""
    urls = {f"http://f{name}.example/page": kind for name, (kind, _) in FAULTS.items()}
    brain.seed([f"{A}/"])
    brain.report([Fetched(f"{A}/", [*urls, f"{A}/well"]), Fetched(f"{A}/well", [])])
    at = time.time()
    if first:
        brain.report([Fetched(url, [], fetched_at=at - 60) for url in urls])
    failed = [Failed(url, **{f: getattr(each, f) for f in ("status", "error", "retry_after")})
              for url, (_, each) in zip(urls, FAULTS.values(), strict=True)]  # fmt: skip
    assert all(answer.accepted for answer in brain.report(failed))
    return urls


def test_every_fault_fails_wherever_it_is_counted(brain: Brain) -> None:
    for first in (False, True):
        brain.clear()
        urls = plant_faults(brain, first)
        assert set(rows(brain, "broken-pages", "url")) == set(urls)
        assert {row[1] for row in rows(brain, "broken-links", "on", "broken")} == set(urls)
        kinds = rows(
            brain, "failing-hosts", "host", "failing", "client", "refused", "broken", "silent", "other", least=1
        )
        names = ("client", "refused", "broken", "silent", "other")
        assert {f"http://{row[0]}/page": names[row[2:].index(1)] for row in kinds} == urls
        assert all(row[1] == 1 == sum(row[2:]) for row in kinds)
        assert sum(rows(brain, "depth", "failing")) == len(urls) == sum(rows(brain, "directories", "failing"))
        assert sum(rows(brain, "hosts-and-states", "failing")) == len(urls)
        assert rows(brain, "failures-by-day", "pages", *names, "cured") == [(10, 3, 2, 3, 1, 1, 0)]
        assert {row["url"] for row in brain.frame("pages").to_pylist() if row["failing"]} == set(urls)
        # An answer cures, whatever the fault was.
        brain.report([Fetched(url, []) for url in urls])
        assert rows(brain, "broken-pages", "url") == [] and sum(rows(brain, "depth", "failing")) == 0
        assert rows(brain, "failures-by-day", "pages", "cured") == [(10, 10)]


NAMED: dict[str, tuple[Fetched | Failed, str]] = {
    "missing": (Failed("", status=404), "missing"),
    "nowhere": (Failed("", status=302, error="more than 5 redirects"), "nowhere"),
    "ring": (Fetched("", status=301, redirected_to="ring"), "circles"),
    "unmet": (Fetched("", not_modified=True), "not_modified"),
    "unsent": (Failed("", error="no such scheme", fault="not_sent"), "not_sent"),
    "garbled": (Failed("", error="BadStatusLine", fault="not_understood"), "not_understood"),
    "endless": (Failed("", status=200, error="the body does not end"), "not_understood"),
    "unread": (Fetched("", status=-1), "bad_report"),
    "down": (Failed("", error="time-out"), "silent"),
    "busy": (Failed("", status=503), "refused"),
    "ill": (Failed("", status=500), "broken"),
}
"""Path → report, and the fault that its page has then."""


def test_each_fault_of_a_page_has_a_name(brain: Brain) -> None:
    brain.seed([f"{A}/"])
    brain.report([Fetched(f"{A}/", [f"{A}/{name}" for name in NAMED])])
    claims = {claim.url.rpartition("/")[2]: claim for claim in brain.next_urls(20)}
    brain.report([replace(report, url=claims[name].url, claim=claims[name]) for name, (report, _) in NAMED.items()])
    wanted = {f"{A}/{name}": fault for name, (_, fault) in NAMED.items()}
    assert set(wanted.values()) == set(PAGE_FAULTS)
    assert all(fault in PAGE["fault"][1] for fault in PAGE_FAULTS)

    def shown() -> list[dict[str, str]]:
        table = {row["url"]: row["fault"] for row in brain.frame("pages").to_pylist() if row["fault"]}
        pages = {page.url: page.fault for page in brain.dump_pages() if page.fault}
        broken = dict(rows(brain, "broken-pages", "url", "fault"))
        return [table, pages, broken, dict(rows(brain, "broken-links", "broken", "fault"))]

    # What the crawler did not send is no failure of the page.
    failing = {url: fault for url, fault in wanted.items() if fault != "not_sent"}
    assert shown() == [wanted, wanted, failing, failing]
    assert sum(rows(brain, "failing-hosts", "other")) == 6 and sum(rows(brain, "failing-hosts", "silent")) == 1


def test_what_was_not_sent_leaves_what_is_known_of_its_page(brain: Brain) -> None:
    # Pages that were well, failed, or are new: a crawler without the spider's callback changes nothing of that.
    brain.seed([f"{A}/"])
    brain.report([Fetched(f"{A}/", [f"{A}/{name}" for name in ("new", "well", "lost")]), Fetched(f"{A}/well", [])])
    brain.report([Failed(f"{A}/lost", status=404)])
    brain.crawl_now([f"{A}/{name}" for name in ("new", "well")])
    before = {page.url: page for page in brain.dump_pages()}
    claims = brain.next_urls(9)
    assert len(claims) == 2
    why: dict[str, Any] = {"error": "no method parse_item", "fault": "not_sent"}
    unsent = [*(Failed(claim.url, claim, **why) for claim in claims), Failed(f"{A}/lost", **why)]
    assert [answer.outcome for answer in brain.report(unsent)] == ["retry"] * 3
    after = {page.url: page for page in brain.dump_pages()}
    for name in ("new", "well", "lost"):
        one, other = before[f"{A}/{name}"], after[f"{A}/{name}"]
        assert [one.status, one.errors, one.failed, one.state] == [
            other.status,
            other.errors,
            other.failed,
            other.state,
        ]
    assert (after[f"{A}/lost"].fault, after[f"{A}/well"].fault) == ("missing", "not_sent")
    assert rows(brain, "broken-pages", "url") == [f"{A}/lost"] and rows(brain, "gone-pages", "url") == []
    assert rows(brain, "failures-by-day", "pages") == [1] and rows(brain, "failing-hosts", "tried", "failing") == [
        (3, 1)
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_links_are_counted_as_they_are_named_while_chains_are_moved(brain: Brain, order: tuple[int, ...]) -> None:
    # / → r0 → r1 → r2 → gone; / names r0 alone, and no worker has moved its links yet.
    chain = [f"{A}/r{i}" for i in range(3)] + [f"{A}/gone"]
    brain.seed([f"{A}/"])
    brain.report([Fetched(f"{A}/", [Link(chain[0], anchor="Sale")])])
    for i in order:
        brain.report([Fetched(chain[i], status=301, redirected_to=chain[i + 1])])
    brain.report([Failed(chain[3], status=404)])
    for moved in (False, True):
        if moved:
            brain.tend()
        assert {url: named for url, named in rows(brain, "redirects", "from", "named") if named} == {chain[0]: 1}
        assert rows(brain, "links-to-redirects", "on", "text", "names") == [(f"{A}/", "Sale", chain[0])], moved
        assert rows(brain, "broken-links", "on", "text", "names", "broken") == [(f"{A}/", "Sale", chain[0], chain[3])]


# ---------------------------------------------------------------------- what is next


def test_a_blocked_host_is_not_next(brain: Brain) -> None:
    brain.seed([f"{A}/", f"{B}/", f"{C}/"])
    brain.block("a.example", 3_600)
    assert rows(brain, "next-pages", "url")[2:] == [f"{A}/"]
    may = dict(rows(brain, "next-pages", "url", "host_may"))
    assert may[f"{A}/"] and not (may[f"{B}/"] or may[f"{C}/"])
    assert rows(brain, "why-next", "url", "host_may")[0][0] in (f"{B}/", f"{C}/")
    assert rows(brain, "why-next", "host_may", url=f"{A}/")[0] is not None
    assert {claim.url for claim in brain.next_urls(9)} == {f"{B}/", f"{C}/"}
    # Once its pages wait in a queue of their own, too.
    brain.report([Failed(f"{D}/", status=503, retry_after=7_200)])
    assert rows(brain, "next-pages", "url")[-1:] == [f"{A}/"] and rows(brain, "next-pages", "host_may")[-1]


# ---------------------------------------------------------------------- slow


def test_slow_hosts_are_found_whatever_else_is_told(brain: Brain) -> None:
    brain.report([Fetched(f"{A}/", [f"{A}/gone"], seconds=0.1), Fetched(f"{A}/b", seconds=0.3, title="B")])
    brain.report([Failed(f"{A}/gone", status=404, seconds=1.1), Fetched(f"{B}/", seconds=4.0)])
    brain.report([Fetched(f"{A}/", not_modified=True, seconds=0.7), Fetched(f"{C}/")])
    assert rows(brain, "slow-hosts", "host", "seconds", "slowest", "timed") == [
        ("b.example", 4.0, 4.0, 1),
        ("a.example", 0.7, 1.1, 3),
    ]
    assert rows(brain, "slow-hosts", "host", limit=1) == ["b.example"]


# ---------------------------------------------------------------------- pages that go and come


@pytest.mark.parametrize("again", ["crawl_now", "retry"])
def test_an_alias_that_is_asked_for_again_has_not_changed_by_that(brain: Brain, again: str) -> None:
    brain.seed([f"{A}/old", f"{A}/page"])
    redirect, content = Fetched(f"{A}/old", status=301, redirected_to=f"{A}/new"), Fetched(f"{A}/old", [], title="Old")
    brain.report([redirect, Fetched(f"{A}/page", [])])

    def visited(report: Fetched) -> list[str]:
        if again == "retry" and brain.page(f"{A}/old").state == "alias":
            brain.retry(f"{A}/old")
        else:
            brain.crawl_now([f"{A}/old"])
        (claim,) = (claim for claim in brain.next_urls(9) if claim.url == f"{A}/old")
        brain.report([replace(report, claim=claim)])
        told = rows(brain, "changes-between", "what", "url")
        return [what for what, url in told if url == f"{A}/old" and what not in ("new", "frontier → alias")]

    assert visited(redirect) == visited(redirect) == []
    assert visited(content) == ["alias → known"]
    assert sorted(visited(redirect)) == ["alias → known", "known → alias"]


def test_pages_that_flicker_and_pages_that_fail_since(brain: Brain) -> None:
    # Each page by its answers, a day apart; 0: no answer.
    webs = {
        "back": (200, 404, 200),
        "twice": (200, 500, 200, 0, 200),
        "first": (500, 200, 500),
        "gone": (200, 410, 410, 410, 410, 410, 410, 410),
        "fails": (200, 200, 404, 404),
        "refused": (200, 503, 200),
        "refuses": (200, 200, 503),
        "never": (404, 404, 200),
        "well": (200, 200),
    }
    now = time.time()
    brain.change(max_errors=3)
    for day in range(8):
        at = now - (8 - day) * DAY
        due = {name: answers[day] for name, answers in webs.items() if day < len(answers)}
        brain.report([_answer(f"{A}/{name}", status, at) for name, status in due.items()])
    assert rows(brain, "flickering-pages", "times", "states", "url", days=30.0) == [
        (4, "known, failing, known, failing, known", f"{A}/twice"),
        (2, "known, failing, known", f"{A}/back"),
        (2, "failing, known, failing", f"{A}/first"),
    ]
    since = {url: (state, since) for url, state, since in rows(brain, "gone-pages", "url", "state", "since", days=30.0)}
    days = {url: (state, at and round((at.timestamp() - now) / DAY + 8)) for url, (state, at) in since.items()}
    failing = {f"{A}/fails": ("known", 2), f"{A}/first": ("known", 2), f"{A}/refuses": ("known", None)}
    assert days == {f"{A}/gone": ("gone", 1), **failing}
    assert set(rows(brain, "gone-pages", "url", days=6.5)) == set(failing)


def _answer(url: str, status: int, at: float) -> Fetched | Failed:
    return Fetched(url, fetched_at=at) if status == 200 else Failed(url, status=status or None, fetched_at=at)


# ---------------------------------------------------------------------- redirects for now


def test_a_temporary_redirect_is_a_fact_and_no_duplicate(brain: Brain) -> None:
    login = {
        "body": b"<title>Log in</title><p>name and word",
        "title": "Log in",
        "canonical": "/login",
        "noindex": True,
    }
    brain.report(
        [
            Fetched(f"{A}/", [f"{A}/mine", f"{A}/yours", f"{A}/login", f"{A}/soon"]),
            Fetched(f"{A}/login", [f"{A}/"], **login),
            Fetched(f"{A}/mine", [f"{A}/", f"{A}/help"], status=302, led_to=["/in", f"{A}/login"], **login),
            Fetched(f"{A}/yours", [f"{A}/"], status=307, led_to=(f"{A}/login",), **login),
            Fetched(f"{A}/soon", [f"{A}/next"], led_to=(f"{A}/next",), title="Soon", body=b"<title>Soon</title>"),
        ]
    )
    facts = {
        page.url: (page.status, page.led_to, page.title, page.canonical, page.noindex) for page in brain.dump_pages()
    }
    assert facts[f"{A}/mine"] == (302, [f"{A}/in", f"{A}/login"], None, None, None)
    assert facts[f"{A}/yours"] == (307, [f"{A}/login"], None, None, None)
    assert facts[f"{A}/soon"] == (200, [f"{A}/next"], "Soon", None, False)
    assert facts[f"{A}/login"] == (200, None, "Log in", f"{A}/login", True)
    assert neighbours(brain, f"{A}/mine") == ([], [f"{A}/"]), "what came are the links of its target"
    for name in ("duplicates", "text-duplicates", "near-duplicates", "same-titles"):
        assert rows(brain, name, "pages") == [], name
    assert rows(brain, "noindex-pages", "url") == [f"{A}/login"]
    assert rows(brain, "temporary-redirects", "status", "in_links", "url", "led_to") == [
        (302, 1, f"{A}/mine", [f"{A}/in", f"{A}/login"]),
        (200, 1, f"{A}/soon", [f"{A}/next"]),
        (307, 1, f"{A}/yours", [f"{A}/login"]),
    ]
    # It changes where it leads elsewhere; and a page of its own is none any more.
    again = [
        Fetched(f"{A}/mine", [], status=302, led_to=(f"{A}/in", f"{A}/login"), body=b"other"),
        Fetched(f"{A}/yours", [], status=302, led_to=(f"{A}/elsewhere",)),
    ]
    assert [answer.outcome for answer in brain.report(again)] == ["same", "changed"]
    brain.report([Fetched(f"{A}/yours", [], title="Yours", body=b"mine")])
    assert (brain.page(f"{A}/yours").led_to, brain.page(f"{A}/yours").title) == (None, "Yours")


# ---------------------------------------------------------------------- what the HTML said, through redirects

CHAIN = ("r1", "r2", "r3")


def _chain(brain: Brain) -> None:
    """r1 → r2 → r3 → final."""
    for begin, end in zip(CHAIN, (*CHAIN[1:], "final"), strict=True):
        brain.report([Fetched(f"{A}/{begin}", redirected_to=f"{A}/{end}")])
    brain.tend(0)


def _links_to_chain(brain: Brain) -> None:
    """A page for each address of the chain that names it; one that names two; one with another rel."""
    named = {f"{A}/by-{name}": [Link(f"{A}/{name}", anchor=f"to {name}")] for name in (*CHAIN, "final")}
    named[f"{A}/two"] = [Link(f"{A}/r1", anchor="first"), Link(f"{A}/final", anchor="second", rel="nofollow")]
    brain.report([Fetched(f"{A}/", [*named])])
    brain.report([Fetched(url, links) for url, links in named.items()])
    brain.tend(0)


def _said_of_chain(brain: Brain) -> None:
    """All that questions, lists and tables say of these links."""
    texts = {"to r1", "to r2", "to r3", "to final", "first", "second"}
    assert set(rows(brain, "anchors", "anchor", url=f"{A}/final")) == texts
    assert rows(brain, "anchors", "links", url=f"{A}/final") == [1] * 6
    named = {(f"{A}/by-{name}", f"{A}/{name}", f"to {name}") for name in CHAIN} | {(f"{A}/two", f"{A}/r1", "first")}
    assert set(rows(brain, "links-to-redirects", "on", "names", "text")) == named
    assert set(rows(brain, "links-to-redirects", "to")) == {f"{A}/final"}
    assert {url: (count, who) for url, count, who in rows(brain, "redirects", "from", "named", "linked_from")} == {
        f"{A}/r1": (2, [f"{A}/by-r1", f"{A}/two"]),
        f"{A}/r2": (1, [f"{A}/by-r2"]),
        f"{A}/r3": (1, [f"{A}/by-r3"]),
    }
    (link,) = brain.links(f"{A}/by-r1")
    assert (link.url, link.named, link.anchor) == (f"{A}/final", f"{A}/r1", "to r1")
    found = {(link.source, link.named, link.anchor) for link in brain.dump_links() if link.target == f"{A}/final"}
    direct = {(f"{A}/by-final", None, "to final"), (f"{A}/two", None, "second")}
    assert {each for each in found if each[2]} == direct | {each for each in named if each[0] != f"{A}/two"}
    urls = {row["key"]: row["url"] for row in brain.frame("pages").to_pylist()}
    spelt = {(urls[row["source"]], urls[row["alias"]], row["anchor"]) for row in brain.frame("spells").to_pylist()}
    assert spelt == named


def test_what_links_say_is_kept_whenever_their_redirects_are_found(brain: Brain) -> None:
    for late in (True, False):
        brain.clear()
        brain.seed([f"{A}/"])
        for step in (_links_to_chain, _chain) if late else (_chain, _links_to_chain):
            step(brain)
        _said_of_chain(brain)
        # Read again, all is as before.
        _links_to_chain(brain)
        _said_of_chain(brain)
        # An alias that is a page again has the texts of its own links, and one that it is again, too.
        brain.report([Fetched(f"{A}/r1", [f"{A}/"])])
        brain.tend(0)
        assert set(rows(brain, "anchors", "anchor", url=f"{A}/r1")) == {"to r1", "first"}
        assert set(rows(brain, "anchors", "anchor", url=f"{A}/final")) == {"to r2", "to r3", "to final", "second"}
        brain.report([Fetched(f"{A}/r1", redirected_to=f"{A}/r2")])
        brain.tend(0)
        _said_of_chain(brain)


def test_a_broken_link_by_way_of_a_redirect_says_what_the_page_names(brain: Brain) -> None:
    brain.seed([f"{A}/"])
    _links_to_chain(brain)
    _chain(brain)
    brain.report([Failed(f"{A}/final", status=404)])
    assert sorted(rows(brain, "broken-links", "on", "names", "text", "broken")) == [
        (f"{A}/by-final", f"{A}/final", "to final", f"{A}/final"),
        *((f"{A}/by-{name}", f"{A}/{name}", f"to {name}", f"{A}/final") for name in CHAIN),
        (f"{A}/two", f"{A}/final", "second", f"{A}/final"),
        (f"{A}/two", f"{A}/r1", "first", f"{A}/final"),
    ]
    assert rows(brain, "broken-links", "on", host="b.example") == []
    # The worst first: those of pages that have given most along each link.
    paid = rows(brain, "broken-links", "paid")
    assert paid == sorted(paid, reverse=True) and paid[0] > paid[-1] > 0.0


# ---------------------------------------------------------------------- limits, and tables


def test_an_answer_says_that_it_is_cut(brain: Brain) -> None:
    crawl(brain)
    for each in questions():
        if "limit" not in {param.name for param in each.params}:
            continue
        whole = ask(brain.graph, each.name, limit="all")
        assert not whole.cut, each.name
        for limit in {0, 1, 2, len(whole.rows) - 1, len(whole.rows), len(whole.rows) + 1} - {-1}:
            some = ask(brain.graph, each.name, limit=limit)
            assert (len(some.rows), some.cut) == (min(limit, len(whole.rows)), limit < len(whole.rows)), (
                each.name,
                limit,
            )


def test_times_of_a_page_are_in_the_tables(brain: Brain) -> None:
    crawl(brain)
    old = next(row for row in brain.frame("pages").to_pylist() if row["url"] == f"{A}/old")
    assert old["states_before"] == ["frontier", "alias", "known"]
    assert [type(at).__name__ for at in old["state_times"]] == ["datetime"] * 3 and len(old["change_times"]) == 1
    assert all(at.utcoffset().total_seconds() == 0 for at in (*old["state_times"], *old["change_times"]))


# ---------------------------------------------------------------------- scope, and crawls that are young


def test_inside_and_outside_are_told_apart(brain: Brain) -> None:
    brain.change(allow_hosts="a.example")
    brain.seed([f"{A}/"])
    brain.report(
        [Fetched(f"{A}/", [f"{A}/one", f"{A}/private", f"{B}/", f"{B}/two", f"{C}/"]), Fetched(f"{A}/one", [])]
    )
    brain.set_robots("a.example", "User-agent: *\nDisallow: /private")
    assert set(rows(brain, "score-by-host", "host", "pages", "inside")) == {
        ("a.example", 3, 3),
        ("b.example", 2, 0),
        ("c.example", 1, 0),
    }
    assert {host: score > 0.0 for host, score in rows(brain, "score-by-host", "host", "authority_inside")} == {
        "a.example": True,
        "b.example": False,
        "c.example": False,
    }
    assert rows(brain, "depth", "clicks", "pages", "outside") == [(0, 1, 0), (1, 5, 3)]
    assert dict(rows(brain, "directories", "directory", "outside"))["b.example/"] == 2
    assert dict(rows(brain, "linking-hosts", "host", "inside")) == {"b.example": False, "c.example": False}
    assert dict(rows(brain, "external-domains", "host", "inside")) == {"b.example": False, "c.example": False}


def test_questions_can_be_asked_of_one_host(brain: Brain) -> None:
    brain.seed([f"{A}/", f"{B}/"])
    for root in (A, B):
        pages = [f"{root}/{name}" for name in ("x?q=1", "x?q=2", "copy")]
        brain.report([Fetched(f"{root}/", pages, title="Home")])
        body = b"<title>Same title</title><p>same " + root.encode()
        brain.report([Fetched(url, body=body, title="Same title", canonical=f"{root}/nowhere") for url in pages])
        brain.hint([Hint(f"{root}/orphan", kind="sitemap")])
    host = "a.example"
    assert (
        rows(brain, "url-parameters", "host", host=host) == [host] and len(rows(brain, "url-parameters", "host")) == 2
    )
    assert rows(brain, "same-titles", "host", host=host) == [host] and len(rows(brain, "same-titles", "host")) == 2
    assert rows(brain, "duplicates", "pages", host=host) == [3] and rows(brain, "duplicates", "pages") == [3, 3]
    assert rows(brain, "orphans", "url", host=host) == [f"{A}/orphan"]
    assert (
        len(rows(brain, "canonical-conflicts", "url", host=host))
        == 3
        == len(rows(brain, "canonical-conflicts", "url")) / 2
    )


def test_a_young_crawl_says_that_it_is_young(brain: Brain) -> None:
    brain.report([Fetched(f"{A}/", [f"{A}/one", f"{A}/two"])])
    brain.hint([Hint(f"{A}/orphan", kind="sitemap")])
    for name in ("orphans", "sitemap-coverage"):
        assert "too young to be sure: 3 pages wait" in ask(brain.graph, name).note
    assert "0 of them of b.example" in ask(brain.graph, "orphans", host="b.example").note
    brain.report([Fetched(f"{A}/{name}", []) for name in ("one", "two", "orphan")])
    assert [ask(brain.graph, name).note for name in ("orphans", "sitemap-coverage", "depth")] == ["", "", ""]


def test_canonical_targets(brain: Brain) -> None:
    brain.change(deny_hosts="e.example d.example")
    targets = {
        "ok": (f"{A}/fine", None),
        "unknown": (f"{A}/nowhere", "is not in the graph"),
        "missing": (f"{A}/missing", "fails"),
        "busy": (f"{A}/busy", "fails"),
        "moved": (f"{A}/moved", "redirects"),
        "for-now": (f"{A}/led", "redirects"),
        "blocked": (f"{A}/private", "may not be fetched"),
        "noindex": (f"{A}/hidden", "asks not to be found"),
        "other": (f"{A}/hidden-too", "names another"),
        "linked-outside": (f"{E}/linked", "is outside the scope"),
        "outside": (f"{D}/never-linked", "is outside the scope"),
    }
    linked = ("fine", "missing", "busy", "moved", "led", "private", "hidden", "hidden-too")
    brain.report([Fetched(f"{A}/", [*(f"{A}/{name}" for name in linked), f"{E}/linked"])])
    brain.set_robots("a.example", "User-agent: *\nDisallow: /private")
    brain.report([Failed(f"{A}/missing", status=404), Failed(f"{A}/busy", status=503)])
    brain.report(
        [
            Fetched(f"{A}/fine", canonical=f"{A}/fine"),
            Fetched(f"{A}/moved", redirected_to=f"{A}/fine"),
            Fetched(f"{A}/led", status=302, led_to=(f"{A}/fine",)),
            Fetched(f"{A}/hidden", noindex=True),
            Fetched(f"{A}/hidden-too", canonical=f"{A}/fine"),
            *(Fetched(f"{A}/c/{name}", canonical=target) for name, (target, _) in targets.items()),
        ]
    )
    found = {url: problem for url, problem in rows(brain, "canonical-conflicts", "url", "problem") if "/c/" in url}
    assert found == {f"{A}/c/{name}": problem for name, (_, problem) in targets.items()}


# ---------------------------------------------------------------------- new questions

MISSING = "Sorry, the page that you are looking for does not exist. Go to the home page, or search for what you want."
LONG = " ".join(f"word{number}" for number in range(400))


def test_new_questions_about_content(brain: Brain) -> None:
    def page(path: str, title: str | None, text: str, links: tuple[str, ...] = ()) -> Fetched:
        body = f"<!doctype html><title>{title or ''}</title><p>{text}".encode()
        return Fetched(f"{A}/{path}", links, body=body, title=title, size=len(body), content_type="text/html")

    brain.seed([f"{A}/"])
    brain.report(
        [
            page(
                "",
                "A home page for all",
                LONG,
                tuple(f"{A}/{name}" for name in ("untitled", "short", "long", "soft", "huge")),
            ),
            page("untitled", None, LONG),
            page("short", "Tea", LONG),
            page("long", "T" * 61, LONG),
            page("soft", "A page like any", MISSING),
            page("huge", "A page of a megabyte", "x " * 500_001),
            Fetched(f"{A}/pdf", size=9, content_type="application/pdf"),
            Fetched(f"{A}/untold", []),
            page("elsewhere", "Not at that host", MISSING),
            Failed(f"{A}/gone", status=404, body=f"<!doctype html><title>404</title><p>{MISSING}".encode()),
            Failed(f"{A}/busy", status=503, body=f"<!doctype html><p>{LONG}".encode()),
        ]
    )
    assert dict(rows(brain, "titles", "url", "problem")) == {
        f"{A}/untitled": "missing",
        f"{A}/short": "too short",
        f"{A}/long": "too long",
    }
    assert dict(rows(brain, "thin-and-huge-pages", "url", "problem")) == {
        f"{A}/soft": "thin",
        f"{A}/elsewhere": "thin",
        f"{A}/huge": "huge",
    }
    assert set(rows(brain, "soft-missing-pages", "url")) == {f"{A}/soft", f"{A}/elsewhere"}, (
        "the home page is not like a 503"
    )
    brain.report([Fetched(f"{A}/gone", [])])
    assert rows(brain, "soft-missing-pages", "url") == [], "nothing is known of its 404 pages any more"


def test_deep_pages_and_where_nofollow_comes_from(brain: Brain) -> None:
    brain.seed([f"{A}/0"])
    for number in range(7):
        brain.report([Fetched(f"{A}/{number}", [Link(f"{A}/{number + 1}", rel="nofollow"), f"{B}/{number}"])])
    brain.report([Fetched(f"{B}/0", [Link(f"{A}/0", rel="ugc"), Link(f"{C}/", rel="sponsored nofollow"), f"{B}/1"])])
    assert {url: clicks for url, clicks in rows(brain, "deep-pages", "url", "clicks") if url.startswith(A)} == {
        f"{A}/{number}": number for number in (4, 5, 6, 7)
    }
    assert rows(brain, "nofollow-pages", "url", "marked", "inside", "links")[0] == (f"{B}/0", 2, 0, 3)
    assert len(rows(brain, "nofollow-pages", "url")) == 8 and rows(
        brain, "nofollow-pages", "url", host="b.example"
    ) == [f"{B}/0"]


def test_pages_whose_links_are_not_to_be_followed_and_whose_canonicals_contradict_each_other(brain: Brain) -> None:
    two, body = (f"head {A}/", f"header {A}/2"), (f"body {A}/",)
    brain.report(
        [
            Fetched(f"{A}/", [Link(f"{A}/1", rel="nofollow"), f"{A}/2", f"{A}/3"], title="x"),
            Fetched(f"{A}/1", nofollow=True),
            Fetched(f"{A}/2", nofollow=False, canonical=f"{A}/", canonicals=two),
            Fetched(f"{A}/3", canonicals=body, title="y"),
        ]
    )
    names = ("url", "whole", "marked", "links")
    assert rows(brain, "nofollow-pages", *names) == [(f"{A}/1", True, 0, 0), (f"{A}/", False, 1, 3)]
    assert rows(brain, "several-canonicals", "url", "problem", "stated", "canonical") == [
        (f"{A}/3", "in the body", list(body), None),
        (f"{A}/2", "several", list(two), f"{A}/"),
    ]
    known = {page.url: (page.nofollow, page.canonicals, page.noindex) for page in brain.dump_pages()}
    assert known[f"{A}/1"] == (True, None, False) and known[f"{A}/2"] == (None, list(two), False)
    brain.report([Fetched(f"{A}/1", [f"{A}/4"], title="z"), Fetched(f"{A}/2", redirected_to=f"{A}/")])
    assert rows(brain, "nofollow-pages", "url") == [f"{A}/"]
    assert rows(brain, "several-canonicals", "url") == [f"{A}/3"]


def test_server_errors_and_changes_over_time(brain: Brain) -> None:
    today = time.time() // DAY * DAY
    noon = [today - (3 - day) * DAY + DAY / 2 for day in range(3)]
    for at, status in zip(noon, (500, 503, 404), strict=True):
        brain.report([Failed(f"{A}/page", status=status, fetched_at=at), Failed(f"{A}/two", status=502, fetched_at=at)])
    found = [
        (str(day), *rest) for day, *rest in rows(brain, "server-errors-by-day", "day", "host", "errors", "refusals")
    ]
    days = [time.strftime("%Y-%m-%d", time.gmtime(at)) for at in noon]
    assert found == [(days[2], "a.example", 1, 0), (days[1], "a.example", 2, 1), (days[0], "a.example", 2, 0)]
    brain.clear()
    visits = [
        Fetched(f"{A}/", body_hash="1" * 32, fetched_at=noon[0]),
        Fetched(f"{A}/", body_hash="2" * 32, fetched_at=noon[1]),
        Failed(f"{A}/", status=404, fetched_at=noon[2]),
    ]
    for visit in visits:
        brain.report([visit])
    told = [("known → failing", days[2]), ("changed", days[1]), ("new", days[0])]
    assert [
        (what, f"{at:%Y-%m-%d}") for what, at in rows(brain, "changes-between", "what", "at", since=days[0])
    ] == told
    assert rows(brain, "changes-between", "what", since=days[0], until=days[1]) == ["new"]
    assert rows(brain, "changes-between", "what", since=days[1], until=days[2]) == ["changed"]


def test_an_alias_says_nothing_of_what_its_page_said_before(brain: Brain) -> None:
    said: dict[str, Any] = {"title": "x", "canonical": f"{A}/lost", "noindex": True, "language": "en", "size": 9}
    said |= {"content_type": "text/html", "body": b"<p>the same words on both pages, and some more of them"}
    brain.seed([f"{A}/"])
    brain.report(
        [
            Fetched(f"{A}/", [f"{A}/goal", f"{A}/lost", f"{A}/one", f"{A}/two"], seconds=0.1),
            *(Fetched(f"{A}/{name}", [], **said) for name in ("goal", "one", "two")),
            Failed(f"{A}/lost", status=404, body=said["body"]),
        ]
    )
    about = ("noindex-pages", "canonical-conflicts", "titles", "thin-and-huge-pages", "soft-missing-pages")
    assert [len(rows(brain, name, "url")) for name in about] == [3] * len(about)
    groups = ("duplicates", "text-duplicates", "near-duplicates", "same-titles", "content-types")
    assert [rows(brain, name, "pages") for name in groups] == [[3]] * len(groups)
    brain.report([Fetched(f"{A}/{name}", redirected_to=f"{A}/goal") for name in ("one", "two")])
    assert {brain.page(f"{A}/{name}").state for name in ("one", "two")} == {"alias"}
    assert {name: rows(brain, name, "url") for name in about} == {name: [f"{A}/goal"] for name in about}
    assert {name: rows(brain, name, "pages") for name in groups} == {
        name: [1] if name == "content-types" else [] for name in groups
    }
    alias = brain.page(f"{A}/one")
    assert (alias.title, alias.canonical, alias.noindex, alias.language, alias.size) == (None,) * 5
