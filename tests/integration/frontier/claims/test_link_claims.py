"""The status of URLs outside the scope as claims: asked for, by HEAD and by GET, redirected, failing, shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Claim, Claims, Failed, Fetched, Resource
from graphbrain.base.errors import BadInput
from graphbrain.frontier.claims.link_state import TRIES
from tests.integration.conftest import HandClock, lose_an_answer

KINDS = ("page", "link")
A, B, C = "https://a.org/", "https://b.org/x", "https://c.org/y"
DAY = 86_400.0
Make = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]


@pytest.fixture
def brain(make_brain: Make) -> Brain:
    """A brain of one host, whose page was fetched and links to two URLs outside the scope."""
    brain = make_brain(order="breadth_first", delay_seconds=1.0, revisit_seconds=0, allow_hosts="a.org")
    brain.seed([A])
    (page,) = brain.next_urls(10, kinds=KINDS)
    brain.report([Fetched(A, [B, C], claim=page, body=b"")])
    assert brain.next_urls(10, kinds=KINDS).finished, "nothing is checked that was not asked for"
    return brain


def links(brain: Brain, n: int = 10) -> dict[str, Claim]:
    """The claims that there are, all of links, by URL."""
    claims = brain.next_urls(n, kinds=KINDS)
    assert {claim.kind for claim in claims} <= {"link"}
    return {claim.url: claim for claim in claims}


def broken(brain: Brain) -> list[tuple[object, ...]]:
    """The broken links as the question has them: URL, status, fault."""
    asked = brain.ask("broken-links")
    place = {name: number for number, name in enumerate(asked.columns)}
    return sorted(tuple(row[place[name]] for name in ("broken", "status", "fault")) for row in asked.rows)


def finding(brain: Brain) -> float:
    """The number of broken links by the findings."""
    return sum(each.count for each in brain.findings() if each.question == "broken-links")


def test_a_link_is_checked_by_head_and_by_get_and_shown(brain: Brain, clock: HandClock, ask: Ask) -> None:
    assert brain.check_links() == 2 and brain.check_links() == 0
    assert not brain.next_urls(1, kinds=KINDS[:1]), "a caller of pages alone gets none"
    assert brain.next_urls(1, kinds=KINDS[:1]).finished
    claims = links(brain)
    assert set(claims) == {B, C} and {claim.method for claim in claims.values()} == {"HEAD"}
    assert claims[B].key == f"link:{B}" and claims[B].as_dict()["method"] == "HEAD"
    assert not brain.next_urls(1, kinds=KINDS).finished
    answers = brain.report([Resource(B, claims[B], 404), Resource(C, claims[C], 405)])
    assert [answer.outcome for answer in answers] == ["retry", "retry"]
    assert not links(brain), "the host has its delay"
    clock.pass_(1.0)
    again = links(brain)
    assert set(again) == {B, C} and again[C].method is None and "method" not in again[C].as_dict()
    assert brain.report([Fetched(C, claim=again[C], body=b"a page")])[0].outcome == "new"
    assert not broken(brain) and brain.report([Resource(B, again[B], 404)])[0].outcome == "gone"
    assert brain.next_urls(1, kinds=KINDS).finished
    assert broken(brain) == [(B, 404, "missing")] and finding(brain) == 1
    assert ask("MATCH (p:Page) RETURN count(p), collect(DISTINCT p.state)")[0][0] == 3
    assert brain.page(B).state == "outside" and brain.page(B).visits == 0
    assert ask("MATCH (h:Host) RETURN DISTINCT h.in_flight") in ([[0]], [[0], [None]], [[None], [0]])
    assert brain.audit().ok


def test_it_is_checked_again_only_where_that_is_asked_for(brain: Brain, clock: HandClock) -> None:
    brain.check_links()
    claims = links(brain)
    brain.report([Resource(B, claims[B], 404), Resource(C, claims[C], 200)])
    clock.pass_(1.0)
    brain.report([Resource(B, links(brain)[B], 404)])
    clock.pass_(3 * DAY)
    assert brain.check_links() == 0 and brain.next_urls(1, kinds=KINDS).finished
    assert brain.check_links(days=2) == 2
    claims = links(brain)
    answers = brain.report([Resource(B, claims[B], 200), Resource(C, claims[C], 410)])
    assert [answer.outcome for answer in answers] == ["new", "retry"]
    clock.pass_(1.0)
    brain.report([Resource(C, links(brain)[C], 410)])
    assert broken(brain) == [(C, 410, "missing")]
    for days in (-1, float("nan"), "7", None):
        with pytest.raises(BadInput, match="days"):
            brain.check_links(days)  # type: ignore[arg-type]


def test_it_tells_how_many_urls_wait(brain: Brain) -> None:
    assert [brain.check_links(), brain.check_links()] == [2, 0]


def test_a_redirect_is_a_claim_of_its_own(brain: Brain, clock: HandClock, ask: Ask) -> None:
    brain.check_links()
    claims = links(brain)
    brain.report(
        [Resource(B, claims[B], 301, redirected_to="https://d.org/"), Resource(C, claims[C], 302, redirected_to="/z")]
    )
    clock.pass_(0.5)
    (there,) = brain.next_urls(10, kinds=KINDS)
    assert (there.url, there.host, there.key, there.method) == ("https://d.org/", "d.org", f"link:{B}", "HEAD")
    clock.pass_(0.5)
    (own,) = brain.next_urls(10, kinds=KINDS)
    assert (own.url, own.host) == ("https://c.org/z", "c.org")
    brain.report([Resource(there.url, there, 501), Resource(own.url, own, 404)])
    clock.pass_(1.0)
    again = links(brain)
    there, own = again["https://d.org/"], again["https://c.org/z"]
    assert there.method is own.method is None
    brain.report([Resource(there.url, there, 204), Resource(own.url, own, 404)])
    assert brain.next_urls(1, kinds=KINDS).finished and broken(brain) == [(C, 404, "missing")]
    assert brain.host("d.org").in_flight == 0 and brain.audit().ok
    assert ask("MATCH (p:Page {host: 'd.org'}) RETURN count(p)") == [[0]]


def test_a_host_that_cannot_be_had_breaks_its_links_after_some_tries(brain: Brain, clock: HandClock) -> None:
    brain.check_links()
    claims = links(brain)
    brain.report([Resource(C, claims[C], 200)])
    claim = claims[B]
    for attempt in range(2 * TRIES):  # by HEAD and by GET
        assert brain.report([Failed(B, claim, None, "no answer", fault="silent")])[0].accepted
        assert bool(broken(brain)) == (attempt == 2 * TRIES - 1)
        if attempt < 2 * TRIES - 1:
            found = Claims(())
            while not found:
                ready = brain.next_urls(1, kinds=KINDS)
                assert not broken(brain)
                found = ready
                if not ready:
                    assert ready.next_ready is not None
                    clock.at = max(ready.next_ready, clock.at + 1.0)
            (claim,) = found
    assert broken(brain) == [(B, None, "silent")]
    assert brain.audit().ok


def test_robots_txt_is_obeyed_where_it_is_known(brain: Brain) -> None:
    brain.set_robots("https://b.org", "User-agent: *\nDisallow: /")
    brain.check_links()
    assert set(links(brain)) == {C}
    assert broken(brain) == []
    assert brain.audit().ok


def test_a_claim_lapses_is_renewed_given_back_and_asked_again(brain: Brain, clock: HandClock) -> None:
    brain.check_links()
    first = brain.next_urls(2, kinds=KINDS, key="mine")
    assert brain.next_urls(2, kinds=KINDS, key="mine")[:] == first[:]
    clock.pass_(brain.settings.lease_seconds + 1.0)
    claims = links(brain)
    assert len(claims) == 2 and {claim.token for claim in claims.values()}.isdisjoint(claim.token for claim in first)
    assert not brain.report([Resource(first[0].url, first[0], 200)])[0].accepted
    longer = brain.renew([claims[B]], 1_000.0)[0]
    assert longer is not None and longer.until == clock.at + 1_000.0 and longer.method == "HEAD"
    assert brain.give_back([longer, claims[C]]) == [True, True]
    clock.pass_(1.0)
    third = links(brain)
    answer = brain.report([Resource(B, third[B], 200)])
    assert answer[0].outcome == "new" and brain.report([Resource(B, third[B], 200)]) == answer
    assert brain.report([Resource(C, third[C], 200)])[0].accepted
    assert brain.host("b.org").in_flight == brain.host("c.org").in_flight == 0 and brain.audit().ok


def test_a_lost_answer_loses_no_claim(brain: Brain, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    brain.check_links()
    lost = lose_an_answer(monkeypatch)
    claims = links(brain)
    assert not lost and set(claims) == {B, C} and {claim.method for claim in claims.values()} == {"HEAD"}
    assert ask("MATCH (r:Resource) RETURN count(r.lease), count(r.counted)") == [[2, 2]]
    assert brain.audit().ok


def test_two_processes_share_them_beside_callers_of_pages(brain: Brain, second: Brain) -> None:
    brain.check_links()
    (one,) = brain.next_urls(1, kinds=KINDS)
    assert not second.next_urls(10)
    (two,) = second.next_urls(10, kinds=KINDS)
    assert {one.url, two.url} == {B, C}
