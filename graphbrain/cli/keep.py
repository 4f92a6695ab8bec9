"""The commands around a crawl, in the order of `graphbrain --help`."""

from __future__ import annotations

import click

from graphbrain.cli.brain import change, clear, engine, rekey, settings
from graphbrain.cli.measures import bench, demo, hammer
from graphbrain.cli.server import schema_group, server_group

__all__ = ["BRAIN", "MEASURES", "SERVER"]


BRAIN: tuple[click.Command, ...] = (change, settings, engine, rekey, clear)
SERVER: tuple[click.Command, ...] = (server_group, schema_group)
MEASURES: tuple[click.Command, ...] = (demo, bench, hammer)
