"""The simulator: that it counts right, what policies reach in it, and the command. Small webs; no server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.base.errors import BadInput
from graphbrain.cli.app import cli
from graphbrain_lab.simulate import histories, policies, simulation
from graphbrain_lab.simulate.histories import History
from graphbrain_lab.simulate.simulation import Budget, SimulationOutcome, run, share_of
from tests.recordings import EVENTS, Recordings

DAYS, BUDGET = 60, 200.0
LATE = range(30, DAYS)


@cache
def web() -> History:
    return histories.synthetic(2000, DAYS, seed=1)


@cache
def reached(name: str) -> SimulationOutcome:
    return run(web(), name, Budget(BUDGET))


def share(name: str) -> float:
    return share_of(reached(name), reached("optimal"), LATE)


def two_pages(events: list[tuple[int, float]], days: float = 10.0) -> History:
    moments = np.sort([page * (days + 1.0) + day for page, day in events])
    return History("two", days, np.array([1.0, 3.0]), np.full(2, 0.1), np.zeros(2, dtype=np.int64), moments)


def test_a_history_knows_the_next_change_of_each_page() -> None:
    history = two_pages([(0, 2.0), (0, 5.0), (1, 3.0)])
    both = np.array([0, 1])
    assert history.next_change(both, 0.0).tolist() == [2.0, 3.0]
    assert history.next_change(both, 2.0).tolist() == [5.0, 3.0]
    assert history.next_change(both, 3.0).tolist() == [5.0, np.inf]
    assert two_pages([]).next_change(both, 0.0).tolist() == [np.inf, np.inf]


def test_freshness_counted_by_hand() -> None:
    """Page 1 (three quarters of the value) changes on day 4.1; round robin comes to it again at 5.5."""
    seen = run(two_pages([(1, 4.1)]), "round-robin", Budget(1.0), steps=1)
    assert seen.visits.tolist() == [1] * 10
    assert seen.freshness == pytest.approx([1, 1, 1, 1, 0.25, (0.25 + 1) / 2, 1, 1, 1, 1])
    assert seen.found.sum() == 3.0
    assert seen.longest == 2.0
    assert seen.unseen == 0


def test_the_simulated_optimum_is_the_computed_one() -> None:
    assert reached("optimal").freshness[20:].mean() == pytest.approx(simulation.optimum(web(), BUDGET), rel=0.01)


def test_lanes_lose_at_most_a_hundredth_of_what_known_rates_reach() -> None:
    assert share("known-lanes") > 0.99


def test_beliefs_come_near_and_before_every_estimator() -> None:
    mine = share("lanes")
    assert mine > 0.97
    for other in ("interval", "large-numbers", "naive", "nutch", "proportional", "round-robin"):
        assert mine > share(other), other
    # These are as good where their starting rate happens to be the web's median, as it is here: what is left between
    # them is what the classes of the lanes cost.
    for other in ("gamma-mean", "equal-interval", "naive-floor"):
        assert mine > share(other) - 0.005, other


def test_no_page_with_value_is_left_for_ever() -> None:
    assert reached("lanes").unseen == 0
    assert reached("optimal").unseen > 200
    seen = run(histories.synthetic(300, 200, seed=2), "lanes", Budget(30.0), reserve=0.1)
    # Every page comes to be the oldest within pages / (reserve · budget) days.
    assert seen.longest <= 300 / (0.1 * 30) + 1


def test_all_of_the_budget_is_spent_and_no_more() -> None:
    for name in ("lanes", "gamma", "nutch", "round-robin", "proportional"):
        assert reached(name).visits.sum() == pytest.approx(DAYS * BUDGET, abs=1), name


def test_it_recovers_within_days_when_the_budget_is_cut_and_raised() -> None:
    """Lanes hold nothing that depends on the budget. With so few pages a day's figure hangs on single ones."""
    budget = Budget(200.0, ((25, 60.0), (42, 600.0)))
    best = run(web(), "optimal", budget)
    for name, most in (("known-lanes", 3), ("lanes", 5)):
        mine = run(web(), name, budget)
        for start, end in ((25, 42), (42, 60)):
            assert share_of(mine, best, range(start, start + 3)) > 0.95
            assert share_of(mine, best, range(start + 3, end)) > 0.97
            back = simulation.recovery(mine, best, start, end)
            assert back is not None
            assert back <= most, name


def test_recovery_counted_by_hand() -> None:
    def outcome(fresh: list[float]) -> SimulationOutcome:
        return SimulationOutcome("x", np.array(fresh), np.zeros(0, dtype=np.int64), np.zeros(0), 0.0, 0, 0)

    best = outcome([1.0] * 12)
    assert simulation.recovery(outcome([0.9] * 12), best, 0, 12) == 0
    assert simulation.recovery(outcome([0.5, 0.5, 0.6, *[0.9] * 9]), best, 0, 12) == 3
    assert simulation.recovery(outcome([0.5, 0.5, 0.6, *[0.9] * 9]), best, 4, 12) is None


def test_a_hot_host_keeps_to_its_cap_near_the_constrained_optimum() -> None:
    history = histories.synthetic(1500, 40, seed=3, hosts=30)
    cap = 25.0
    goal = simulation.constrained_optimum(history, 150.0, cap)
    assert goal < 0.99 * simulation.optimum(history, 150.0)
    for name, least in (("optimal", 0.98), ("known-lanes", 0.98), ("lanes", 0.95)):
        seen = run(history, name, Budget(150.0), host_cap=cap)
        assert seen.host_most <= cap, name
        assert seen.freshness[20:].mean() > least * goal, name


def test_the_same_seed_is_the_same_simulation() -> None:
    one, other = (run(histories.synthetic(100, 20, seed=4), "lanes", Budget(10.0)) for _ in range(2))
    assert one.freshness.tolist() == other.freshness.tolist()


def test_budgets_that_cannot_be() -> None:
    for budget in (Budget(0.0), Budget(np.inf), Budget(1.0, ((0, 2.0),)), Budget(1.0, ((5, 2.0), (5, 3.0)))):
        with pytest.raises(BadInput, match="budget"):
            budget.check(10)


@pytest.mark.data
def test_a_recorded_history(data_dir: Recordings) -> None:
    history = histories.recorded(data_dir / EVENTS, 200)
    assert history.pages > 500
    budget = Budget(history.pages / 20)
    best = run(history, "optimal", budget)
    mine = run(history, "lanes", budget, forgetting=0.95)
    assert share_of(mine, best, range(100, 200)) > 0.97
    robin = run(history, "round-robin", budget)
    assert mine.freshness[100:].mean() > robin.freshness[100:].mean()


# ---------------------------------------------------------------- the command


def test_the_command_prints_a_table_and_json() -> None:
    arguments = ["simulate", "--pages", "100", "--days", "20", "--at", "5=3", "--policy", "lanes"]
    table = CliRunner(env={"COLUMNS": "80"}).invoke(cli, arguments)
    assert table.exit_code == 0, table.output
    assert "share %" in table.output
    assert max(map(len, table.output.splitlines())) <= 80
    rows = [json.loads(line) for line in CliRunner().invoke(cli, [*arguments, "--json"]).stdout.splitlines()]
    assert [row["policy"] for row in rows] == ["optimal", "lanes"]
    assert rows[0]["share"] == 1.0
    assert len(rows[1]["by_day"]) == 20
    assert [part["day"] for part in rows[1]["segments"]] == [5]


def test_a_plot_is_drawn_where_matplotlib_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "fresh.svg"
    found = CliRunner().invoke(cli, ["simulate", "--pages", "50", "--days", "9", "--plot", str(file)])
    assert found.exit_code == 0, found.output
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--policy", "magic"], "There is no policy 'magic'"),
        (["--at", "3"], "is not DAY=VISITS"),
        (["--prior", "1"], "is not SHAPE,SCALE"),
        (["--from", "90"], "is not before the end"),
        (["--at", "300=5"], "can change on days 1 to 89"),
        (["missing.tsv"], "cannot be read"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(arguments: list[str], says: str) -> None:
    found = CliRunner().invoke(cli, ["simulate", *arguments])
    assert found.exit_code != 0
    assert says in f"{found.output} {found.exception}"
    assert found.exception is None or isinstance(found.exception, BadInput | SystemExit)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "its first line must name"),
        ("epoch\tdocument\n", "records no change"),
        ("epoch\tdocument\nx\ta\n", "line 2"),
    ],
)
def test_a_file_that_is_no_history(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "history.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        histories.recorded(file, 5)


def test_every_policy_runs() -> None:
    history = histories.synthetic(60, 12, seed=5, hosts=4)
    for name in policies.POLICIES:
        seen = run(history, name, Budget(20.0), host_cap=8.0)
        assert seen.host_most <= 8, name
        assert 0.0 < seen.freshness.mean() <= 1.0, name


@given(st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.3, 0.1 + 0.2, 1.0, 1e9]), max_size=12), st.integers(0, 14))
def test_the_best_are_taken_the_first_of_equals_first(worth: list[float], count: int) -> None:
    told = [round(each, 6) if np.isfinite(each) else each for each in worth]
    expected = sorted((n for n, each in enumerate(told) if each > -np.inf), key=lambda n: (-told[n], n))[:count]
    assert policies.best(np.array(worth, dtype=np.float64), count).tolist() == expected


@pytest.mark.parametrize("more", [[], ["--hosts", "20", "--host-cap", "3"]], ids=["free", "capped"])
def test_every_processor_comes_to_the_same_figures(more: list[str]) -> None:
    from numpy._core import _multiarray_umath as core

    has = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    command = [
        sys.executable,
        "-m",
        "graphbrain",
        "simulate",
        "--pages",
        "300",
        "--days",
        "40",
        "--json",
        "--seed",
        "3",
    ]
    told = {
        subprocess.run(
            [*command, "--policy", "all", *more],
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": without, "OPENBLAS_CORETYPE": kernel},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for without, kernel in (("", ""), (" ".join(has), "Prescott"))
    }
    assert len(told) == 1
