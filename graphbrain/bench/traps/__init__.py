"""Traps: what a crawl's order does on generated sites whose servers make pages up, and on honest sites alike in looks."""

from graphbrain.bench.traps.judging import ASKED, Row, rows, without_harvest
from graphbrain.bench.traps.running import Crawled, Trial, run
from graphbrain.bench.traps.shapes import LOOK_ALIKES, SHAPES, TRAPS, chosen

__all__ = [
    "ASKED",
    "LOOK_ALIKES",
    "SHAPES",
    "TRAPS",
    "Crawled",
    "Row",
    "Trial",
    "chosen",
    "rows",
    "run",
    "without_harvest",
]
