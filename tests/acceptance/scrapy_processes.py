"""Spiders in processes of their own, on the brain under test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests.plugin import PATIENCE, Neo4j

__all__ = ["ADDON", "ROOT", "Spiders", "Started", "ended"]

ROOT = Path(__file__).resolve().parents[2]
ADDON = {"graphbrain.scrapy.Addon": 500}


class Started(Protocol):
    """Where a crawl begins."""

    def at(self, path: str) -> str:
        """Return the URL of a page."""


@dataclass
class Spiders:
    """Starts spiders on the brain under test."""

    neo4j: Neo4j
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, name: str, site: Started | None, *, proxy: str = "", **settings: Any) -> subprocess.Popen[str]:
        """Start a spider at the root of a site, or at its `start_urls`."""
        given = {
            "ADDONS": ADDON,
            "GRAPHBRAIN_URI": self.neo4j.uri,
            "GRAPHBRAIN_USER": self.neo4j.user,
            "GRAPHBRAIN_PASSWORD": self.neo4j.password,
            "GRAPHBRAIN_CRAWL": "test",
            "GRAPHBRAIN_AUTO_TEND": False,
            "GRAPHBRAIN_PATIENCE": 5,
            "start_urls": [] if site is None else [site.at("/")],
            **settings,
        }
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and "proxy" not in k.lower()}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.spiders", name, json.dumps(given)],
            cwd=ROOT,
            env=kept | ({"http_proxy": proxy} if proxy else {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def run(self, name: str, site: Started, **settings: Any) -> tuple[list[dict[str, Any]], str]:
        """Return its items and its log."""
        return ended(self.start(name, site, **settings))

    def end(self) -> None:
        """Kill those that still run."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[list[dict[str, Any]], str]:
    """Wait for a spider, and return its items and its log."""
    out, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
    return [json.loads(line) for line in out.splitlines()], log
