"""The verbs are the same, whoever asks: `Brain` itself, or a client of its service, waiting or for an event loop."""

from __future__ import annotations

import contextlib
import inspect
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphbrain import AsyncClient, Brain, Client, Failed, Fetched, Hint, Link, Resource
from graphbrain.base.errors import (
    BadInput,
    GraphbrainError,
    ServiceRefused,
    ServiceUnavailable,
    SettingsError,
    UnknownPage,
)
from graphbrain.base.model import Claim, Host, KnownLink, LinkedPage, Page, Unusable
from graphbrain.service.client import shapes
from tests.plugin import Neo4j, emptied
from tests.serving import Waiting, serving, tokens
from tests.verbs import top_of

NOT_OVER_HTTP = {
    *("frame", "open", "close", "now", "engine", "kept_payout", "graph", "settings"),
    *("quick_figures", "scan_figures"),
}
"""What takes functions, answers with a table in memory, belongs to a process, or is for metrics."""
NOBODY = Claim("", "robots:http://a.org", "-", 0.0, "", 0)
A, B, C = "http://a.org/", "http://a.org/b", "http://c.org/"


@pytest.fixture(scope="module")
def own(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        yield brain


@pytest.fixture(scope="module", params=["brain", "client", "async"])
def verbs(own: Brain, request: pytest.FixtureRequest) -> Iterator[Any]:
    """What has the verbs; all of them use one brain."""
    if request.param == "brain":
        yield own
        return
    with serving(own) as url, (Client if request.param == "client" else Waiting)(url, tokens(own)["operator"]) as found:
        yield found


@pytest.fixture
def empty(verbs: Any, own: Brain) -> Any:
    own.clear()
    own.remake(delay_seconds=0.0)
    return verbs


NOT_IN_CLIENTS = {
    "tend": ("batch", "for_everybody", "passes", "pushes"),
    "next_urls": ("notes",),
}
"""Verb → the arguments that only `Brain` has."""


def test_the_clients_have_the_verbs_of_the_brain_and_their_arguments() -> None:
    def arguments(kind: type, verb: str) -> dict[str, Any]:
        found = inspect.signature(getattr(kind, verb)).parameters
        return {name: (each.kind, each.default) for name, each in found.items() if name not in ("progress", "stop")}

    public = {name for name in dir(Brain) if not name.startswith("_") and callable(getattr(Brain, name))}
    for verb in sorted(public - NOT_OVER_HTTP):
        mine = arguments(Brain, verb)
        own = {
            "tend": ("batch", "for_everybody", "passes", "pushes"),
            "next_urls": ("notes",),
        }
        for name in own.get(verb, ()):
            del mine[name]
        assert mine == arguments(Client, verb), verb
    for verb in [name for name in dir(Client) if not name.startswith("_")]:
        assert arguments(Client, verb) == arguments(AsyncClient, verb), verb


def test_a_robots_txt_is_a_claim_of_its_own(empty: Any) -> None:
    empty.seed([A, B])
    (claim,) = empty.next_urls(5, kinds=("page", "robots"), key="k")
    assert (claim.kind, claim.url) == ("robots", "http://a.org/robots.txt")
    assert list(empty.next_urls(5, kinds=("page", "robots"), key="k")) == [claim]
    assert not empty.next_urls(5, kinds=["page", "robots"])
    (held,) = empty.renew([claim], 100.0)
    assert held is not None and held.kind == "robots"
    (answer,) = empty.report([Resource(claim.url, claim, 200, b"User-agent: *\nDisallow: /b\n")])
    assert (answer.accepted, answer.outcome) == (True, "new")
    assert [claim.url for claim in empty.next_urls(5, kinds=("page", "robots"))] == [A]
    assert empty.robots("http://a.org").endswith("/b\n")
    with pytest.raises(BadInput, match="need 'page'"):
        empty.next_urls(5, kinds=("robots",))


def test_a_sitemap_comes_as_a_claim_and_brings_pages(empty: Any) -> None:
    kinds = ("page", "robots", "sitemap")
    site = f"http://{type(empty).__name__.lower()}.org"  # sitemaps of one host are looked for once a minute
    empty.seed([f"{site}/"])
    (robots,) = empty.next_urls(5, kinds=kinds)
    empty.report([Resource(robots.url, robots, 200, b"Sitemap: /s.xml\nUser-agent: *\nAllow: /\n")])
    claims = [*empty.next_urls(5, kinds=kinds), *empty.next_urls(5, kinds=kinds)]
    claim, page = sorted(claims, key=lambda each: each.kind, reverse=True)
    assert (page.kind, claim.kind, claim.url) == ("page", "sitemap", f"{site}/s.xml")
    (held,) = empty.renew([claim], 100.0)
    assert held is not None and held.kind == "sitemap"
    entries = "".join(f"<url><loc>{site}/{number}</loc></url>" for number in range(2_500))
    body = f"<urlset>{entries}</urlset>".encode()  # so large that clients pack it
    assert len(body) > 65_536
    (answer,) = empty.report([Resource(claim.url, claim, 200, body, etag='"1"')])
    assert (answer.accepted, answer.outcome) == (True, "new")
    assert empty.page(f"{site}/2499").state == "frontier"
    (told,) = empty.ask("sitemaps").rows
    assert 2_500 in told and f"{site}/s.xml" in told


def test_the_status_of_a_link_out_of_the_scope_is_a_claim(empty: Any, own: Brain) -> None:
    kinds, there = ("page", "link"), "http://o.org/x"
    own.remake(delay_seconds=0.0, revisit_seconds=0, allow_hosts="a.org", order="breadth_first")
    empty.seed([A])
    (page,) = empty.next_urls(5, kinds=kinds)
    empty.report([Fetched(A, [there], page, body=b"1")])
    assert empty.check_links() == 1 and empty.check_links() == 0
    assert not empty.next_urls(5), "a call for pages alone gets none"
    (claim,) = empty.next_urls(5, kinds=kinds, key="link")
    assert (claim.kind, claim.url, claim.method) == ("link", there, "HEAD")
    assert list(empty.next_urls(5, kinds=kinds, key="link")) == [claim]
    (held,) = empty.renew([claim], 100.0)
    assert held is not None and (held.kind, held.method) == ("link", "HEAD")
    assert empty.give_back([held]) == [True]
    (claim,) = empty.next_urls(5, kinds=kinds)
    (answer,) = empty.report([Resource(there, claim, 405)])
    assert (answer.accepted, answer.outcome) == (True, "retry")
    (claim,) = empty.next_urls(5, kinds=kinds)
    assert (claim.kind, claim.method) == ("link", None)
    assert empty.report([Resource(there, claim, 404)])[0].outcome == "gone"
    (broken,) = empty.ask("broken-links").rows
    assert there in broken and empty.page(there).state == "outside"
    assert empty.host("o.org").in_flight == 0


@pytest.mark.parametrize(
    "said",
    [
        Resource("", NOBODY, None, error="time-out"),
        Resource("", NOBODY, 503, retry_after="7"),
        Resource("", NOBODY, 301, redirected_to="/other"),
        Resource("", NOBODY, 404),
        Resource("", NOBODY, 200, b"\xff\xfe"),
        Resource("", NOBODY, 204),
    ],
)
def test_whatever_came_of_a_robots_txt(empty: Any, said: Resource) -> None:
    empty.seed([A])
    (claim,) = empty.next_urls(5, kinds=("page", "robots"))
    (answer,) = empty.report([replace(said, url=claim.url, claim=claim)])
    due = {"time-out": "retry", "": {503: "slowed", 301: "alias"}.get(said.status or 0, "new")}[said.error]
    assert (answer.accepted, answer.outcome) == (True, due), answer
    assert empty.host("a.org").in_flight == 0


def test_a_page_from_its_seed_to_its_scores(empty: Any) -> None:
    seeded = empty.seed([A, "nope", B])
    assert (seeded.created, seeded.known) == (2, 0) and seeded.refused[0][0] == "nope"
    claims = empty.next_urls(5, worker="w")
    assert sorted(claim.url for claim in claims) == [A, B] and not claims.finished
    assert all(isinstance(claim, Claim) for claim in claims)
    assert not empty.next_urls(5) and empty.next_urls(5).next_ready is not None
    renewed = empty.renew([*claims, Claim(C, "0" * 32, "x", 0.0, "c.org", 0)], 600.0)
    assert renewed[-1] is None and renewed[0].until > claims[0].until
    assert empty.give_back([claims[1], claims[1]]) == [True, True]
    first = next(claim for claim in claims if claim.url == A)
    links = [B, Link(C, relevance=0.9), "mailto:x"]
    visit = Fetched(A, links, first, body=b"\xff\x00bytes", content_type="text/html", relevance=0.7, etag='"1"')
    answers = empty.report([visit, Failed("http://x.org/", status=404), Unusable(C, None, "no reason")])
    assert [answer.accepted for answer in answers] == [True, True, False]
    assert (answers[0].outcome, answers[0].links) == ("new", 2) and answers[0].links_refused[0][0] == "mailto:x"
    assert "no reason" in answers[2].reason
    assert empty.report([visit])[0] == answers[0], "a report that is told twice counts once"
    page = empty.page(A)
    assert isinstance(page, Page) and (page.state, page.visits, page.relevance) == ("known", 1, 0.7)
    assert page.body_hash and page.key == first.key and empty.page(page.key) == page
    assert empty.stats()["states"]["known"] == 1


def test_bodies_have_the_hashes_of_their_bytes(empty: Any, own: Brain) -> None:
    for number, body in enumerate(
        (b"text", "Grüße".encode(), b"\xff\xfe\x00\x80", b"", "a\ud800".encode("utf-8", "surrogatepass"))
    ):
        url = f"http://a.org/{number}"
        empty.report([Fetched(url, body=body)])
        own.report([Fetched(f"{url}?own", body=body)])
        assert own.page(url).body_hash == own.page(f"{url}?own").body_hash, body


def test_what_is_looked_at(empty: Any) -> None:
    empty.report([Fetched(A, [B, C], body_hash="a"), Fetched(B, [A], body_hash="b")])
    empty.tend(0.5)
    assert [page.url for page in top_of(empty, 2)] == [page.url for page in top_of(empty, 5)][:2]
    assert {page.url for page in empty.find("org")} == {A, B, C} == {page.url for page in empty.dump_pages()}
    assert [page.url for page in empty.find("", host="c.org", fetched=False, limit=1)] == [C]
    assert {(link.source, link.target) for link in empty.dump_links()} == {(A, B), (A, C), (B, A)}
    assert all(isinstance(link, KnownLink) for link in empty.dump_links(between_hosts=True))
    found = list(empty.links(A, "in"))
    assert isinstance(found[0], LinkedPage) and found[0].url == B
    assert [step.url for step in empty.path(B, C)] == [B, A, C]
    paid = empty.payments(A)
    assert {payment.url for payment in paid.hub_payers} <= {B, C}
    assert [host.name for host in empty.hosts("c.org")] == ["c.org"] and isinstance(empty.host("a.org"), Host)
    with pytest.raises(UnknownPage, match=r"x\.org"):
        empty.page("http://x.org/")
    for wrong in (
        lambda: list(empty.find(state="no")),
        lambda: top_of(empty, 3, by="no"),
        lambda: list(empty.links("x")),
    ):
        with pytest.raises(BadInput):
            wrong()


def test_what_is_corrected(empty: Any) -> None:
    empty.seed([A])
    assert empty.link(A, C) is True and empty.link(A, C) is False
    assert empty.unlink(A, C) is True and empty.unlink(A, C) is False
    empty.set_page(A, relevance=0.25, payout=3.0, value=2.0)
    page = empty.page(A)
    assert (page.relevance, page.payout, page.value) == (0.25, 3.0, 2.0)
    empty.set_page(A, relevance=None, payout=None)
    page = empty.page(A)
    assert (page.relevance, page.payout, page.value) == (None, None, 2.0), "what is not given stays"
    with pytest.raises(BadInput, match="Give what is to be set"):
        empty.set_page(A)
    empty.set_page(A, rate=0.5)
    assert empty.page(A).rate == pytest.approx(0.5)
    empty.set_page(A, interval=86_400)
    assert empty.page(A).interval == 1.0
    assert empty.crawl_now([A, "nope"]) == [True, False]
    empty.set_host("a.org", delay=2.0, budget=7)
    empty.set_host("a.org", budget=None)
    host = empty.host("a.org")
    assert (host.own_delay, host.own_budget) == (2.0, None)
    empty.block("a.org", 60.0)
    assert empty.host("a.org").blocked_until is not None
    empty.unblock("a.org")
    answer = empty.set_robots("a.org", "User-agent: *\nDisallow: /b")
    assert answer.delay == 0.0 and "Disallow" in empty.robots("a.org")
    assert empty.note({A: "by browser", "nope": "x"}).keys() == {"nope"}
    assert list(empty.notes([A]).values()) == ["by browser"]
    assert [hinted.accepted for hinted in empty.hint([A, Hint(A, 5.0), "nope"])] == [True, True, False]
    assert empty.retry(A) == 0 and empty.retry(host="a.org") == 0
    assert empty.forget(A) == 0 and empty.forget(A) is None
    with pytest.raises(BadInput):
        empty.set_page(C, relevance=2.0)
    with pytest.raises(BadInput):
        empty.retry()


def test_long_work(empty: Any) -> None:
    empty.report([Fetched(A, [B, C], body_hash="a"), Fetched(B, [A], body_hash="b")])
    told: list[tuple[Any, ...]] = []
    ranked = empty.rank("pagerank", top=2, progress=lambda *how: told.append(how))
    assert ranked.converged and ranked.complete and len(ranked.best["pagerank"]) == 2
    assert empty.rankings()[0].method == "pagerank"
    assert empty.settle().pages in (0, 3)
    assert empty.audit(None).ok
    empty.change(delay_seconds=1.5)
    assert empty.change(lambda *_: None, discovery_days=5.0) is None
    with pytest.raises(SettingsError, match="delay_seconds"):
        empty.change(delay_second=1.0)
    with pytest.raises(SettingsError):
        empty.remake(delay_seconds=0.0)
    empty.clear()
    assert empty.stats()["pages"] == 0
    empty.remake(order="best_first", delay_seconds=0.0)
    for wrong in ({"nope": 1}, {"delay_seconds": "x"}):
        with pytest.raises(SettingsError):
            empty.remake(**wrong)
    assert empty.next_urls(1, wait=0.2).finished


def test_wrong_input_is_refused_as_by_the_brain(empty: Any) -> None:
    for wrong in (
        lambda: empty.next_urls(0),
        lambda: empty.next_urls(1, wait=float("nan")),
        lambda: empty.next_urls(1, worker="a\nb"),
        lambda: empty.seed("http://a.org/"),
        lambda: empty.host("nobody.org"),
        lambda: empty.renew([], 1e9),
        lambda: empty.tend(float("nan")),
    ):
        with pytest.raises(BadInput):
            wrong()
    assert empty.report([]) == [] == empty.renew([]) == empty.give_back([])
    refused = empty.report([Fetched(A, "http://b.org/"), Fetched(B, changed="x"), Fetched(A, body="text")])  # type: ignore[arg-type]
    assert not any(answer.accepted for answer in refused[:2])


@pytest.mark.parametrize("kind", [Client, Waiting])
def test_what_only_a_client_meets(own: Brain, kind: type) -> None:
    with (
        serving(own) as url,
        kind(url, "gbt_wrong") as wrong,
        pytest.raises(ServiceRefused, match="token is not known"),
    ):
        wrong.stats()
    with kind(url, "gbt_x", limit_seconds=0.3) as gone, pytest.raises(ServiceUnavailable, match="graphbrain serve"):
        gone.stats()
    for address, token in (("ftp://x", "t"), ("", "t"), ("http://brain.example:1", "t"), (url, "a b")):
        with pytest.raises(BadInput):
            kind(address, token)
    with kind("http://brain.example:1", "t", without_tls=True):
        pass
    assert issubclass(ServiceUnavailable, GraphbrainError) and ServiceUnavailable.try_again


@contextlib.contextmanager
def swallowing(url: str) -> Iterator[tuple[str, list[bytes]]]:
    """A relay to the service that never answers the first request of a verb; and what came first on each connection."""
    at, seen, swallowed = urlsplit(url), list[bytes](), set[bytes]()

    def pass_on(one: socket.socket, other: socket.socket, first: bytes = b"") -> None:
        with contextlib.suppress(OSError):
            other.sendall(first)
            while more := one.recv(65536):
                other.sendall(more)
        for each in (one, other):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def serve(there: socket.socket) -> None:
        first = there.recv(65536)
        seen.append(first)
        verb = first.split(b" ", 2)[1] if first else b""
        if verb not in swallowed:
            swallowed.add(verb)
            while there.recv(65536):
                pass
            return
        service = socket.create_connection((at.hostname or "", at.port or 0))
        threading.Thread(target=pass_on, args=(service, there), daemon=True).start()
        pass_on(there, service, first)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen


@pytest.mark.long
@pytest.mark.parametrize("kind", [Client, pytest.param(Waiting, marks=pytest.mark.nightly)])
def test_a_request_whose_answer_hangs_is_made_again(own: Brain, kind: Callable[..., Any]) -> None:
    own.clear()
    own.seed([A, B, C])
    with serving(own) as url, swallowing(url) as (relay, seen):
        token = tokens(own)["operator"]

        def client() -> Any:
            return kind(relay, token, limit_seconds=15.0)  # a new connection for each verb

        with client() as one:
            claims = one.next_urls(3)
        with client() as one:
            renewed = one.renew(claims[1:])
        with client() as one:
            assert one.give_back(renewed[:1]) == [True]
        with client() as one:
            assert one.report([Fetched(claims[0].url, [B], claims[0])])[0].accepted
        assert len(claims) == 3 and len(seen) >= 8 and own.stats()["leased"] == 1


def test_items_go_in_parts() -> None:
    some = list(shapes.parts({"url": "x" * 100} for _ in range(2_500)))
    assert [len(part) for part in some] == [1_000, 1_000, 500]
    assert (
        max(sum(map(len, part)) for part in shapes.parts({"body": "x" * 2**20} for _ in range(20))) <= shapes.MOST_BYTES
    )
    assert list(shapes.parts([])) == [[]]


def test_only_what_was_asked_for_by_hand_is_claimed(empty: Any, own: Brain) -> None:
    """By `now_only`, also of a poll that waits until somebody asks; others go on getting all pages."""
    empty.report([Fetched(A, [B]), Fetched(C)])
    none = empty.next_urls(5, now_only=True)
    assert not none and none.finished and not none.paused
    assert empty.crawl_now([C, A]) == [True, True]
    first = empty.next_urls(5, now_only=True)
    assert {claim.url for claim in first} <= {A, C} and first, "no other page"
    held = empty.next_urls(5, now_only=True)
    assert not held.finished and (held or held.next_because in ("host", "lease"))
    got = [*first, *held]
    while len(got) < 2:
        got += empty.next_urls(5, now_only=True, wait=2.0)
    assert {claim.url for claim in got} == {A, C}
    assert [claim.url for claim in empty.next_urls(5)] == [B]
    assert all(answer.accepted for answer in empty.report([Fetched(claim.url, (), claim) for claim in got]))
    assert empty.next_urls(5, now_only=True).finished
    # One of them waits, and is asked for while it does.
    empty.crawl_now([C])
    (claim,) = empty.next_urls(1, now_only=True, wait=5.0)
    late = threading.Timer(0.5, lambda: own.give_back([claim]))
    late.start()
    assert [again.url for again in empty.next_urls(1, now_only=True, wait=20.0)] == [C]
    late.join()
    with pytest.raises(BadInput, match="now_only"):
        empty.next_urls(1, now_only="yes")


def test_a_wall_is_seen_over_http(empty: Any) -> None:
    visits = [Fetched(f"{A}{n}", status=302, led_to=[f"{A}login?next={n}"]) for n in range(6)]
    assert all("is that a login or a consent page?" in answer.reason for answer in empty.report(visits))
    assert (empty.host("a.org").wall, empty.host("a.org").walled) == (f"{A}login", 6)
    assert [host.wall for host in empty.hosts()] == [f"{A}login"]
