"""Rules for hosts by their names: groups and hours."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import SettingsError
from graphbrain.base.urls.host_rules import MINUTE, groups, hours
from graphbrain.base.urls.hostnames import HostList

ZONES = ("UTC", "Europe/Rome", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def opens(rules: str, host: str, now: float) -> float:
    opening = hours(rules).of(host)
    return now if opening is None else opening.opens(now)


def test_the_first_rule_that_names_a_host_or_a_domain_above_it_holds() -> None:
    rules = groups("a.example in_flight 1; *.example other.org:8080 delay 5 in_flight 2\n* delay 9")
    names = [rules.of(host) for host in ("www.a.example", "b.example", "other.org:8080", "other.org", "c.net")]
    assert [group and (group.delay, group.in_flight) for group in names] == [(0, 1), (5, 2), (5, 2), (9, 0), (9, 0)]


@given(st.lists(st.sampled_from(["a.b.c", "b.c", "c", "d.c", "b.c:81", "*"]), min_size=1, max_size=5))
def test_a_host_has_the_first_rule_whose_list_holds_it(hosts: list[str]) -> None:
    rules = groups(";".join(f"{host} delay {number}" for number, host in enumerate(hosts)))
    for name in ("a.b.c", "x.a.b.c", "b.c:81", "d.c", "c", "e"):
        wanted = next((number for number, host in enumerate(hosts) if HostList.of(host).holds(name)), None)
        group = rules.of(name)
        assert (None if group is None else group.delay) == wanted


def test_the_name_of_a_group_does_not_depend_on_its_limits() -> None:
    (_, one), (_, other) = (
        groups("a.example b.example delay 1").rules + groups("a.example  b.example in_flight 3").rules
    )
    assert one.name == other.name == "group a.example b.example"
    long_host = f"{'a' * 60}.b "
    (_, long), (_, longer) = (groups(f"{long_host * times} delay 1").rules[0] for times in (5, 6))
    assert long.name != longer.name
    assert len(long.name) < 200


def test_hours_pass_midnight_and_follow_the_clock_on_the_wall() -> None:
    rome = "a.example 22:00-06:00 Europe/Rome"
    assert opens(rome, "a.example", at("2026-07-01T12:00")) == at("2026-07-01T20:00")
    assert opens(rome, "a.example", at("2026-12-01T12:00")) == at("2026-12-01T21:00")
    assert opens(rome, "www.a.example", at("2026-12-01T03:00")) == at("2026-12-01T03:00")
    assert opens(rome, "b.example", at("2026-12-01T12:00")) == at("2026-12-01T12:00")


def test_an_hour_that_summer_time_skips_does_not_occur_and_one_that_it_repeats_occurs_twice() -> None:
    short = "a.example 02:15-02:45 Europe/Rome"
    assert opens(short, "a.example", at("2026-03-29T00:00")) == at("2026-03-30T00:15"), "02:15 is skipped on 29 March"
    assert opens(short, "a.example", at("2026-10-25T00:00")) == at("2026-10-25T00:15"), "in summer time"
    assert opens(short, "a.example", at("2026-10-25T00:50")) == at("2026-10-25T01:15"), "and again in winter time"
    assert opens("a.example 02:15-05:00 Europe/Rome", "a.example", at("2026-03-29T00:30")) == at("2026-03-29T01:00")


@given(st.integers(0, 1439), st.integers(1, 1439), st.sampled_from(ZONES), st.integers(1_700_000_000, 1_900_000_000))
def test_the_next_opening_is_the_first_minute_within_the_hours(begin: int, length: int, zone: str, now: int) -> None:
    end = (begin + length) % 1440
    rules = f"* {begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02} {zone}"
    opening = hours(rules).of("a.example")
    assert opening is not None
    first = opening.opens(now)
    if first == now:
        assert opening.is_open(now)
        return
    assert opening.is_open(first)
    assert first % MINUTE == 0
    assert not any(opening.is_open(at) for at in range(now, int(first), 60))


NO_GROUPS = ["a.example", "delay 5", "a.example delay x", "a b delay 1 in_flight 2.5", "a delay 1 b", "a b* delay 1"]
NO_GROUPS += ["a delay -1", "a in_flight 1e9", "a delay nan"]
NO_HOURS = ["a.example", "22:00-06:00", "a 22:00-06:00 Mars/X", "a 25:00-06:00", "a 10:00-10:00", "a 10:61-11:00"]
NO_HOURS += ["a 10:00-11:00 b 12:00-13:00 UTC", "a 10:00-24:01", "a/b 10:00-11:00"]


@pytest.mark.parametrize("text", NO_GROUPS)
def test_a_part_that_is_no_group_is_quoted(text: str) -> None:
    with pytest.raises(SettingsError, match="groups must have rules like") as error:
        groups(f"ok.example delay 1;{text}")
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("text", NO_HOURS)
def test_a_part_without_hours_is_quoted(text: str) -> None:
    with pytest.raises(SettingsError, match="hours must have rules like") as error:
        hours(f"ok.example 10:00-11:00\n{text}")
    assert repr(text) in str(error.value)
