"""Worlds: a property of the whole brain, tried on worlds that a seed draws, in simulated time."""

from graphbrain_lab.bench.worlds.crawl import crawl
from graphbrain_lab.bench.worlds.drawing import draw
from graphbrain_lab.bench.worlds.judges import judge
from graphbrain_lab.bench.worlds.named import NAMED, named
from graphbrain_lab.bench.worlds.running import WorldOutcome, run, try_world
from graphbrain_lab.bench.worlds.verdict import JUDGES, WorldFinding
from graphbrain_lab.bench.worlds.world import World, WorldGoal, from_json, to_json

__all__ = [
    "JUDGES",
    "NAMED",
    "World",
    "WorldFinding",
    "WorldGoal",
    "WorldOutcome",
    "crawl",
    "draw",
    "from_json",
    "judge",
    "named",
    "run",
    "to_json",
    "try_world",
]
