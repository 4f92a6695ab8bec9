"""Groups of hosts that share limits, and hours in which hosts may be asked."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from graphbrain import Brain, Claim, Failed, Fetched
from graphbrain.base.errors import SettingsError
from graphbrain.base.urls.host_rules import groups, hours
from tests.integration.conftest import HandClock, sound
from tests.plugin import Neo4j

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

HOSTS = ["a.blogs.org", "b.blogs.org", "c.blogs.org", "d.net", "e.net", "f.com"]
GROUPS = (
    "",
    "*.blogs.org d.net delay 3 in_flight 2",
    "d.net in_flight 1; *.net delay 7",
    "*.blogs.org delay 2; * in_flight 3",
)
DAY = 86_400.0


def seeded(make_brain: MakeBrain, pages: int = 8, **settings: object) -> Brain:
    brain = make_brain(**settings)
    brain.seed([f"http://{host}/{n}" for host in HOSTS for n in range(pages)])
    return brain


def spans(clock: HandClock, *hours_from_now: tuple[float, float]) -> str:
    """The text of hours that begin and end so many hours from now, in UTC."""
    moments = [[datetime.fromtimestamp(clock.at, UTC) + timedelta(hours=h) for h in each] for each in hours_from_now]
    return ",".join(f"{begin:%H:%M}-{end:%H:%M}" for begin, end in moments)


def test_the_hosts_of_a_group_share_its_delay_and_its_limit(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    brain = seeded(make_brain, delay_seconds=0.0, groups="*.blogs.org delay 2 in_flight 2")
    times: list[float] = []
    open_claims: list[Claim] = []
    for _ in range(30):
        got = [claim for claim in brain.next_urls(99) if claim.host.endswith("blogs.org")]
        assert len(got) <= 1
        times += [clock.at] * len(got)
        open_claims += got
        if len(open_claims) == 2:
            assert ask("MATCH (a:Address) RETURN a.name, a.in_flight") == [["group *.blogs.org", 2]]
            clock.pass_(5.0)
            assert not [claim for claim in brain.next_urls(99) if claim.host.endswith("blogs.org")], "two are open"
            first, second = open_claims
            brain.report([Fetched(first.url, claim=first)])
            brain.give_back([second])
            open_claims.clear()
        clock.pass_(1.0)
    assert len(times) >= 8
    assert all(later - earlier >= 2.0 for earlier, later in itertools.pairwise(times))


def test_a_group_holds_in_place_of_the_address_and_ends_with_its_rule(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = seeded(make_brain, delay_seconds=0.0, address_delay_seconds=100.0, groups="a.blogs.org delay 1")
    brain.report([Fetched(f"http://{host}/0", address="192.0.2.1") for host in HOSTS[:2]])
    clock.pass_(100.0)
    brain.give_back(brain.next_urls(99))
    clock.pass_(1.0)
    got = Counter(claim.host for claim in brain.next_urls(99))
    assert got["a.blogs.org"] == 1, "its group waits a second"
    assert got["b.blogs.org"] == 0, "its address waits a hundred"
    assert brain.host("a.blogs.org").group == "a.blogs.org"
    # A rule with other limits counts the claims that are open; without a rule the host has its own limits.
    brain.change(groups="a.blogs.org in_flight 1")
    clock.pass_(1.0)
    assert "a.blogs.org" not in {claim.host for claim in brain.next_urls(99)}
    assert brain.audit(None).ok
    brain.change(groups="")
    assert brain.host("a.blogs.org").group is None
    assert Counter(claim.host for claim in brain.next_urls(99))["a.blogs.org"] > 1
    assert brain.audit(None).ok


def test_a_host_is_asked_within_its_hours_only(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = seeded(make_brain, delay_seconds=0.0, hours=f"d.net {spans(clock, (2, 5))}")
    got = brain.next_urls(99)
    assert {claim.host for claim in got} == set(HOSTS) - {"d.net"}
    brain.report([Fetched(claim.url, claim=claim) for claim in got])
    # The outlook names the opening, and the host does not count as ill.
    waiting = brain.next_urls(99)
    assert not waiting
    assert not waiting.finished
    assert waiting.next_because == "host"
    opens = clock.at - clock.at % 60 + 2 * 3600.0
    assert waiting.next_ready == pytest.approx(opens)
    assert brain.host("d.net").shut_until == pytest.approx(opens)
    clock.pass_(waiting.next_ready - clock.at - 1.0)
    assert not brain.next_urls(99)
    clock.pass_(1.0)
    (claim, *_) = brain.next_urls(2)
    assert claim.host == "d.net"
    assert brain.host("d.net").illness is None
    # A claim that is out after the hours is reported as any other.
    clock.pass_(3 * 3600.0)
    assert not brain.next_urls(99)
    assert brain.report([Fetched(claim.url, claim=claim)])[0].accepted or clock.at > claim.until
    assert brain.audit(None).ok


def test_hours_are_changed_at_once(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = seeded(make_brain, delay_seconds=0.0, hours=f"* {spans(clock, (10, 11))}")
    assert not brain.next_urls(9)
    brain.change(hours="")
    assert len(brain.next_urls(9)) == 9
    brain.change(hours=f"*.net {spans(clock, (10, 11))}")
    assert {claim.host for claim in brain.next_urls(99)} <= set(HOSTS[:3]) | {"f.com"}


def test_rules_that_cannot_be_read_change_nothing(make_brain: MakeBrain) -> None:
    brain = make_brain()
    for wrong in ({"groups": "a.org"}, {"hours": "a.org 10:00-11:00 Mars/Olympus"}):
        with pytest.raises(SettingsError, match="must have rules like"):
            brain.change(**wrong)
    assert brain.settings.groups == brain.settings.hours == ""


@pytest.mark.parametrize("seed", range(4))
def test_claims_obey_groups_and_hours_whatever_happens(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, seed: int
) -> None:
    """Two processes claim, report, fail, give back and let leases lapse, while rules change; a ledger outside of the
    brain judges each claim."""
    rng = random.Random(seed)
    brain = seeded(make_brain, pages=40, delay_seconds=0.0, max_errors=3, lease_seconds=60.0)
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as second:
        _churn([brain, second], clock, rng)
    clock.pass_(61.0)
    brain.tend(0)
    sound(brain)


def _churn(brains: Sequence[Brain], clock: HandClock, rng: random.Random) -> None:
    open_claims: list[tuple[Claim, str | None]] = []
    last_claims: dict[str, float] = {}
    rules = {"groups": "", "hours": ""}
    granted = 0
    for _ in range(60):
        one = rng.choice(brains)
        step = rng.random()
        if step < 0.1:
            begin = rng.uniform(-3, 3)
            new_hours = rng.choice(["", f"*.org {spans(clock, (begin, begin + rng.uniform(0.1, 5)))} UTC"])
            rules = {"groups": rng.choice(GROUPS), "hours": new_hours}
            brains[0].change(**rules)
            for other in brains:
                other.tend(1)
            last_claims.clear()  # a new rule counts from now on
        elif step < 0.6:
            open_claims = [(claim, group) for claim, group in open_claims if claim.until > clock.at]
            for claim in one.next_urls(rng.randrange(1, 12)):
                groups_of_others = Counter(group for _, group in open_claims)
                open_claims.append((claim, _judged(claim, groups_of_others, last_claims, rules, clock.at)))
                granted += 1
        elif open_claims:
            claim, _ = open_claims.pop(rng.randrange(len(open_claims)))
            if step < 0.8:
                one.report([Fetched(claim.url, [f"http://{rng.choice(HOSTS)}/{rng.randrange(99)}"], claim)])
            elif step < 0.9:
                one.report([Failed(claim.url, claim, 404)])
            else:
                one.give_back([claim])
        clock.pass_(rng.choice([0.0, 0.5, 2.0, 30.0, 1800.0]))
    assert granted > 20


def _judged(
    claim: Claim,
    groups_of_others: Mapping[str | None, int],
    last_claims: dict[str, float],
    rules: dict[str, str],
    now: float,
) -> str | None:
    """Check one claim against the rules of now, and return the name of its group. `groups_of_others`: group → open
    claims that were made while their hosts were in it."""
    opening = hours(rules["hours"]).of(claim.host)
    assert opening is None or opening.is_open(now), f"{claim.host} is asked outside of its hours"
    group = groups(rules["groups"]).of(claim.host)
    if group is None:
        return None
    others = groups_of_others[group.name]
    assert not group.in_flight or others < group.in_flight, f"{group.name} has {others} open claims"
    assert now - last_claims.get(group.name, 0.0) >= group.delay - 1e-6, f"{group.name} is asked too soon"
    last_claims[group.name] = now
    return group.name
