"""The robots.txt of an origin, without a graph: whatever is answered in whatever order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim, Failed, Fetched, Resource, kind_of
from graphbrain.base.runtime.tokens import token
from graphbrain.content.wire import claim_from_dict, report_from_dict
from graphbrain.frontier.hosts.origins import HOLDS, RENEWED, Origin, Times, as_texts, key_of, times_of
from graphbrain.frontier.hosts.resource import MOST_REDIRECTS, Said

DAY = 86_400.0
NOW = 1_700_000_000.0
KEY = key_of("https", "a.org")


def origin() -> Origin:
    """One that nobody has asked for."""
    return Origin(KEY, "https://a.org/robots.txt", "a.org")


SAID = draw.one_of(
    draw.just(Said("rules", "")),
    draw.just(Said("fails")),
    draw.builds(lambda n: Said("leads", url=f"https://b.org/{n}", host="b.org"), draw.integers(0, 3)),
)


@given(draw.lists(draw.tuples(SAID, draw.floats(0.0, 3 * DAY)), max_size=60))
def test_whatever_is_answered(answers: list[tuple[Said, float]]) -> None:
    one, now, hops, known, failing = origin(), NOW, 0, False, None
    for said, later in answers:
        now = max(now, one.tries_at(now)) + later
        rules = one.hear(said, now, had_rules=known, unreachable=30 * DAY)
        hops = hops + 1 if said.what == "leads" and hops < MOST_REDIRECTS else 0
        leads = said.what == "leads" and hops > 0
        assert (one.redirects or 0) == hops <= MOST_REDIRECTS
        assert (one.url == one.home) is not leads and (one.host == "a.org") is not leads
        if said.what == "fails":
            failing = now if failing is None else failing
            assert one.due_at is not None and now < one.due_at <= now + 2 * DAY
            assert (rules is not None) == (not known and now - failing >= 30 * DAY)
        else:
            failing = failing if leads else None
            assert one.due_at is None
            assert (rules is None) == leads
        assert one.failing_since == failing
        known |= rules is not None


def test_times_of_rules() -> None:
    times = Times.read(NOW)
    assert times_of(as_texts({"http": times, "https": Times(NOW, NOW + 1.0)})) == {
        "http": times,
        "https": Times(NOW, NOW + 1.0),
    }
    assert as_texts({}) is None and times_of(None) == {}
    assert not times.are_due(NOW + RENEWED - 1) and times.are_due(NOW + RENEWED)
    assert times.hold(NOW + HOLDS - 1) and not times.hold(NOW + HOLDS)
    assert times.are_due(NOW - 60.0) and not times.hold(NOW - 60.0)  # a clock that was ahead has written them


def test_a_lease_of_a_clock_that_was_ahead_ends_soon() -> None:
    one = origin()
    one.take(token(NOW + 9 * DAY), "w", NOW + 9 * DAY + 300.0, None)
    assert one.held_until(NOW, 300.0) == NOW + 300.0
    assert one.changes()["lease_until"] == NOW + 300.0
    one.let_go("returned")
    assert one.held_until(NOW, 300.0) is None and one.last_outcome == "returned"


def test_a_claim_says_its_kind_only_where_it_is_no_page() -> None:
    page, file = Claim("http://a.org/", "0" * 32, "t", 1.0, "a.org", 0), Claim("", KEY, "t", 1.0, "a.org", 0)
    assert "kind" not in page.as_dict() and page.kind == "page" == kind_of(None)
    assert file.as_dict()["kind"] == "robots"
    assert claim_from_dict(file.as_dict()) == file and claim_from_dict({**page.as_dict(), "kind": "page"}) == page
    for wrong in ({**page.as_dict(), "kind": "robots"}, {**file.as_dict(), "key": "robots:ftp://x"}):
        with pytest.raises(BadInput, match="'claim'"):
            claim_from_dict(wrong)


def test_a_resource_as_the_report_of_a_page() -> None:
    claim = Claim("https://a.org/robots.txt", KEY, "t", 1.0, "a.org", 0)
    assert isinstance(Resource(claim.url, claim, 200, "x").as_report(), Fetched)
    assert isinstance(Resource(claim.url, claim, 302, redirected_to="/x").as_report(), Fetched)
    assert isinstance(Resource(claim.url, claim, 404).as_report(), Failed)
    assert isinstance(Resource(claim.url, claim).as_report(), Failed)
    line = {"url": claim.url, "claim": claim.as_dict(), "status": 200, "body": "User-agent: *"}
    assert report_from_dict(line) == Fetched(claim.url, claim=claim, body=b"User-agent: *")
