"""The alert rules and the board of docker/ speak of metrics that there are, with labels that they have."""

from __future__ import annotations

import json
import re

from prometheus_client.parser import text_string_to_metric_families

from tests.contract.source import ROOT
from tests.unit.service.metrics.exposed import exposed

RULES = (ROOT / "docker" / "prometheus" / "rules.yml").read_text(encoding="utf-8")
BOARD = json.loads((ROOT / "docker" / "grafana" / "boards" / "graphbrain.json").read_text(encoding="utf-8"))
EXPOSED: dict[str, set[str]] = {}
for _family in text_string_to_metric_families(exposed()):
    for _sample in _family.samples:
        EXPOSED.setdefault(_sample.name, set()).update(_sample.labels)
ADDED = {"job", "instance"}
"""Labels that Prometheus adds."""


def targets() -> list[tuple[str, str]]:
    """(title of the panel, expression) of all that the board asks for."""
    return [(panel["title"], target["expr"]) for panel in BOARD["panels"] for target in panel.get("targets", ())]


def check(expression: str) -> None:
    """All metrics in it are exposed, and so are the labels it sums by."""
    metrics = set(re.findall(r"\bgraphbrain_\w+", expression))
    assert metrics <= EXPOSED.keys() or metrics == set(), metrics - EXPOSED.keys()
    labels = {label.strip() for by in re.findall(r"\bby \(([^)]*)\)", expression) for label in by.split(",")}
    labels |= set(re.findall(r"(\w+)=~?\"", expression))
    assert labels <= ADDED.union(*(EXPOSED[name] for name in metrics)), labels


def test_the_rules_speak_of_what_there_is() -> None:
    alerts = re.findall(r"^ +- alert: (\w+)$", RULES, re.MULTILINE)
    expressions = re.findall(r"^ +expr: (.*(?:\n {10,}\S.*)*)$", RULES, re.MULTILINE)
    assert len(alerts) == len(set(alerts)) == len(expressions) == 7
    for expression in expressions:
        check(expression)
    named = set(re.findall(r"\bgraphbrain_\w+", RULES))
    wanted = ("ready_pages", "error_bound_ratio", "tending_processes", "leases_lapsed_total")
    assert named >= {f"graphbrain_{name}" for name in wanted}


def test_the_board_speaks_of_what_there_is() -> None:
    assert len(targets()) > 30
    for title, expression in targets():
        assert "graphbrain_" in expression, title
        check(expression)
    for panel in BOARD["panels"]:
        for target in panel.get("targets", ()):
            legend = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            by = {
                label.strip() for found in re.findall(r"\bby \(([^)]*)\)", target["expr"]) for label in found.split(",")
            }
            assert legend <= by, panel["title"]


def test_the_board_shows_every_metric() -> None:
    """What nobody sees need not be exposed."""
    shown = set(re.findall(r"\bgraphbrain_\w+", RULES + " ".join(expression for _, expression in targets())))
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in EXPOSED}
    missing = families - {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    assert missing <= {"graphbrain_reported_links_total", "graphbrain_sample_duration_seconds"}


def test_panels_do_not_lie_on_each_other() -> None:
    places = [panel["gridPos"] for panel in BOARD["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    numbers = [panel["id"] for panel in BOARD["panels"]]
    assert len(numbers) == len(set(numbers))
