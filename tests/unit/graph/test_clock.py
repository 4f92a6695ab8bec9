"""The brain's time across leaders: some processes, members whose clocks differ, and leaders that change by lot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.graph import clock
from graphbrain.graph.clock import FADE, JUMP, Timekeeper

TRUE = 1_700_000_000.0
SKEWS = st.lists(st.floats(-7_200, 7_200), min_size=2, max_size=3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.floats(0.1, 600)),
        st.tuples(st.just("lead"), st.integers(0, 2)),
        st.tuples(st.just("look"), st.integers(0, 2)),
        st.tuples(st.just("start"), st.integers(0, 2)),
    ),
    max_size=40,
)


@dataclass
class World:
    """Members whose clocks are ahead by `skews`, one of which leads; processes; and the brain that they share."""

    skews: list[float]
    ticks: float = 1_000.0
    leader: int = 0
    stored: dict[str, Any] = field(default_factory=dict)
    processes: dict[int, Timekeeper] = field(default_factory=dict)
    last: dict[int, float] = field(default_factory=dict)

    def start(self, number: int) -> None:
        """A process opens the brain."""
        self.processes[number] = Timekeeper()
        self.measure(number, first=True)
        self.processes[number].agree(self.stored)
        self.last[number] = self.processes[number].now()
        self.look(number)

    def measure(self, number: int, first: bool = False) -> None:
        """A process measures the leader's clock, a little wrong."""
        error = 0.01 * ((number + len(self.last)) % 3 - 1)
        offset = TRUE + self.skews[self.leader] + error
        self.processes[number].measured(self.name, offset, first)

    @property
    def name(self) -> str:
        return f"member{self.leader}:7687"

    def look(self, number: int) -> None:
        """A process refreshes, as each does about once a second: it takes up the time, and records it if it must."""
        timekeeper = self.processes[number]
        if timekeeper.member != self.name:
            self.measure(number)
        if timekeeper.agree(self.stored) is not None or timekeeper.now() > self.stored.get("clock_seen", 0.0) + 60:
            shift = timekeeper.shift(self.stored, self.name)
            seen = max(timekeeper.now(), self.stored.get("clock_seen", 0.0))
            self.stored = {**self.stored, "clock_seen": seen, **shift}
        self.check()

    def check(self) -> None:
        """Time goes forward in each process."""
        for number, timekeeper in self.processes.items():
            now = timekeeper.now()
            assert now >= self.last[number]
            self.last[number] = now

    def spread(self) -> float:
        """The seconds between the latest and the earliest process."""
        times = [timekeeper.now() for timekeeper in self.processes.values()]
        return max(times) - min(times)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> list[World]:
    """The world whose ticks the steady clock has."""
    worlds: list[World] = []
    monkeypatch.setattr(clock, "steady", lambda: worlds[-1].ticks)
    return worlds


@given(skews=SKEWS, steps=STEPS)
def test_time_never_runs_backwards_and_all_agree(skews: list[float], steps: list[tuple[str, Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        world = World(skews)
        patch.setattr(clock, "steady", lambda: world.ticks)
        world.start(0)
        for what, by in steps:
            if what == "wait":
                world.ticks += by
                world.check()
            elif what == "lead":
                world.leader = by % len(skews)
            elif what == "start":
                world.start(by)
            elif by in world.processes:
                world.look(by)
        for _ in range(3):
            for number in world.processes:
                world.look(number)
        assert world.spread() <= 2 * JUMP


@given(skews=SKEWS, leaders=st.lists(st.tuples(st.integers(0, 2), st.floats(1, 60)), max_size=20))
def test_the_time_of_processes_that_run_does_not_step(skews: list[float], leaders: list[tuple[int, float]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        world = World(skews)
        patch.setattr(clock, "steady", lambda: world.ticks)
        world.start(0)
        world.start(1)
        begun, ticks = world.processes[0].now(), world.ticks
        for leader, seconds in leaders:
            world.leader = leader % len(skews)
            for number in (0, 1):
                world.look(number)
            world.ticks += seconds
            world.check()
        passed = world.ticks - ticks
        for timekeeper in world.processes.values():
            slack = FADE * passed + JUMP * (len(leaders) + 1)  # a difference of less than JUMP is followed at once
            assert timekeeper.now() - begun == pytest.approx(passed, abs=slack)


def test_a_shift_fades(ticking: list[World]) -> None:
    world = World([60.0, 0.0])
    ticking.append(world)
    world.start(0)
    world.leader = 1
    for _ in range(70):
        world.ticks += 60.0
        world.look(0)
    assert world.processes[0].now() == pytest.approx(world.ticks + TRUE, abs=0.05)


def test_the_clock_of_one_server_that_is_set_back_is_followed(ticking: list[World]) -> None:
    world = World([3_600.0])
    ticking.append(world)
    world.start(0)
    world.skews[0] = 0.0
    jump = world.processes[0].measured(world.name, TRUE)
    assert jump == pytest.approx(-3_600.0, abs=1.0)
    assert world.processes[0].agree(world.stored) is None
    assert world.processes[0].now() == pytest.approx(world.ticks + TRUE, abs=0.1)


def test_a_connection_that_does_not_route_follows_the_record(ticking: list[World]) -> None:
    world = World([60.0, 0.0])
    ticking.append(world)
    world.start(0)
    world.leader = 1
    world.look(0)
    direct = Timekeeper()
    direct.measured(None, TRUE, first=True)
    assert direct.agree(world.stored) is None
    assert direct.now() == pytest.approx(world.processes[0].now(), abs=0.1)
    assert direct.shift(world.stored, None) == {}
