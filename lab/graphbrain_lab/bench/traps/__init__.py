"""Traps: what an order fetches of generated sites whose servers make pages up, and of honest sites that look alike."""

from graphbrain_lab.bench.traps.judging import ASKED, Row, rows, without_harvest
from graphbrain_lab.bench.traps.running import TrapCrawl, TrapTrial, run
from graphbrain_lab.bench.traps.shapes import DRAWN, LOOK_ALIKES, SHAPES, TRAPS, chosen

__all__ = [
    "ASKED",
    "DRAWN",
    "LOOK_ALIKES",
    "SHAPES",
    "TRAPS",
    "Row",
    "TrapCrawl",
    "TrapTrial",
    "chosen",
    "rows",
    "run",
    "without_harvest",
]
