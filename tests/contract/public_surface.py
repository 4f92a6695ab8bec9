"""The public surface: one list of everything whose change docs/reference/stability.md promises to announce.

`MODULES` is the part that is decided here: the modules that users import, and the names in them. All other parts follow
from the code: arguments of functions, fields of records, commands and their options, settings, paths of the service
with their parameters and JSON fields, metrics with their labels, labels and properties. `surface()` returns the whole,
one name a line, members below the name that users import. `public_surface.txt` is the list as it was last accepted; a
test compares the two.

    python -m tests.contract.public_surface            print the difference
    python -m tests.contract.public_surface --write    accept it

A line that disappears breaks users: name it in CHANGELOG.md under "Removed" or "Changed", and see the policy in
docs/reference/stability.md.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from fastapi import FastAPI

from graphbrain.analyst.dictionary import NODES
from graphbrain.analyst.questions import questions
from graphbrain.base.model import FAULTS, OUTCOMES, STATES
from graphbrain.base.settings import OF_OTHER_PARTS, Settings, variable_of
from graphbrain.cli.app import cli
from graphbrain.cli.commands import LABORATORY
from graphbrain.content.wire import report_schema
from graphbrain.crawl.scrapy.requests import OWN
from graphbrain.service import crawling, long_work, plain
from graphbrain.service.door import OPEN
from graphbrain.service.metrics import families
from graphbrain.service.refusals import STATUSES

__all__ = ["MODULES", "RECORDED", "difference", "surface"]

RECORDED = Path(__file__).with_name("public_surface.txt")

MODULES: dict[str, tuple[str, ...]] = {
    "graphbrain": (
        *("Answer", "AsyncClient", "Brain", "Claim", "Claims", "Client", "Failed", "Fetched", "GraphbrainError"),
        *("Hint", "Link", "Page", "Resource", "Seen"),
    ),
    "graphbrain.demo.crawler": ("HtmlPage",),
    "graphbrain.errors": (
        *(
            "BadInput",
            "BeingConverted",
            "Cancelled",
            "NoScore",
            "GraphRefused",
            "GraphTooSmall",
            "GraphUnavailable",
            "GraphbrainError",
        ),
        *("SchemaMismatch", "ServerFailed", "ServiceRefused", "ServiceUnavailable", "SettingsError", "UnknownHost"),
        *("UnknownPage", "UnknownQuestion"),
    ),
    "graphbrain.hints": ("Hints", "read"),
    "graphbrain.metrics.meter": ("Meter",),
    "graphbrain.metrics.serving": ("served",),
    "graphbrain.model": (
        *("Answer", "Claim", "Claims", "ExpectedCopy", "Failed", "Fetched", "Hint", "Hinted", "Host", "HostResource"),
        *("KnownLink", "Link", "LinkedPage", "Page", "PageSection", "Payment", "Payments", "RobotsAnswer", "Section"),
        *("SeedAnswer", "Seen"),
    ),
    "graphbrain.pagefacts": ("PageFacts",),
    "graphbrain.relevance": ("TopicRelevance", "guess"),
    "graphbrain.robots": ("Robots", "parsed"),
    "graphbrain.schedule.change_rate": (
        *("FORGETTING", "PRIOR", "Prior", "after_visit", "bias_corrected_rate", "chance_of_change"),
        *(
            "expected_value",
            "first_belief",
            "fit_prior",
            "fit_priors",
            "interval_rate",
            "large_numbers_rate",
            "naive_rate",
        ),
    ),
    "graphbrain.scrapy": ("Addon", "DownloaderMiddleware", "Scheduler", "SpiderMiddleware"),
    "graphbrain.server": (
        *("Server", "Status", "default_data_dir", "find", "logs", "restart", "start", "status", "stop"),
    ),
    "graphbrain.schedule.optimal_revisits": (
        *("Objective", "Optimum", "caps", "captured", "freshness", "optimal_frequencies"),
        *("optimal_frequencies_by_host", "optimal_seeds_g", "ripe_at", "ripeness"),
    ),
    "graphbrain.url": ("spell",),
    "graphbrain.work": ("Audit", "Ranking", "Settled", "Tended"),
}
"""Module → the names in it that users may import. All other modules and names are internal."""

PROGRAMS = ("python -m graphbrain", "python -m graphbrain.demo.crawler")
NOT_PROMISED = frozenset({"graph", "policy", "engine", "quick_figures", "scan_figures", "kept_payout"})
"""Public methods of `Brain` that graphbrain's own rooms use and users are not promised."""


def surface() -> list[str]:
    """Return the whole surface, sorted, one name a line."""
    return sorted(
        {
            *_of_modules(),
            *_commands(cli, "graphbrain"),
            *(f"program {name}" for name in PROGRAMS),
            *(f"setting {name} {variable_of(name)}" for name in Settings.names()),
            *(f"setting of another part {name}" for name in OF_OTHER_PARTS),
            *(f"setting of Scrapy GRAPHBRAIN_{name.upper()}" for name in OWN),
            *_service(),
            *(f"metric {name}" for name in _metrics()),
            *_data(),
            *(f"question {question.name}" for question in questions()),
        }
    )


# ---------------------------------------------------------------------- Python


def _of_modules() -> Iterator[str]:
    public: dict[int, tuple[str, object]] = {}
    for module, names in MODULES.items():
        here = importlib.import_module(module)
        for name in names:
            yield f"name {module}.{name}"
            public[id(getattr(here, name))] = f"{module}.{name}", getattr(here, name)
    for called, what in public.values():
        yield from _of_object(called, what)


def _of_object(called: str, what: object) -> Iterator[str]:
    if inspect.isclass(what):
        if dataclasses.is_dataclass(what):
            yield from (f"field {called}.{field.name}" for field in dataclasses.fields(what))
        for name, member in inspect.getmembers(what):
            if name.startswith("_") or not _defined_here(what, name) or name in NOT_PROMISED:
                continue
            if isinstance(member, property):
                yield f"property {called}.{name}"
            elif inspect.isfunction(member) or inspect.ismethod(member):
                yield from (f"argument {called}.{name}({argument})" for argument in _arguments(member))
    elif inspect.isfunction(what):
        yield from (f"argument {called}({argument})" for argument in _arguments(what))


def _defined_here(kind: type, name: str) -> bool:
    """True where graphbrain defines the member, not a base class of Python or of another package."""
    return any(name in vars(base) for base in kind.__mro__ if base.__module__.startswith("graphbrain"))


def _arguments(function: object) -> list[str]:
    """The arguments as a caller writes them: `n` by place or name, `n=` by name alone, `n?` has a default."""
    found = [""]
    for one in inspect.signature(function).parameters.values():  # type: ignore[arg-type]
        if one.name in ("self", "cls") or one.name.startswith("_"):
            continue
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        by_name = "=" if one.kind is one.KEYWORD_ONLY else ""
        found.append(f"{star}{one.name}{by_name}{'' if one.default is one.empty else '?'}")
    return found


# ---------------------------------------------------------------------- command line and service


def _commands(command: click.Command, called: str) -> Iterator[str]:
    if command.hidden:
        return
    yield f"command {called}"
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from (f"option {called} {text}" for text in (*parameter.opts, *parameter.secondary_opts))
        elif isinstance(parameter, click.Argument):
            yield f"operand {called} {parameter.human_readable_name}"
    for name, below in (command.commands if isinstance(command, click.Group) else {}).items():
        if name not in LABORATORY:
            yield from _commands(below, f"{called} {name}")


def _service() -> Iterator[str]:
    for part in (crawling, plain, long_work):
        for route in part.router.routes:
            yield from (f"path {method} {route.path}" for method in route.methods)  # type: ignore[attr-defined]
    yield from (f"path GET {path}" for path in (*OPEN, "/metrics"))
    yield from _json()
    yield from (f"error code {kind.__name__}" for kind, _ in STATUSES)


def _json() -> Iterator[str]:
    """The parameters of the service's paths, and the fields of its bodies and answers, as the OpenAPI document has
    them; and the keys of a line of `graphbrain report`."""
    app = FastAPI()
    for part in (crawling, plain, long_work):
        app.include_router(part.router)
    document = app.openapi()
    for path, verbs in document["paths"].items():
        for verb in verbs.values():
            yield from (f"parameter {path} {each['name']}" for each in verb.get("parameters", ()))
    for name, schema in document["components"]["schemas"].items():
        if not name.endswith("ValidationError"):
            yield from (f"json {name}.{each}" for each in schema.get("properties", ()))
    yield from (f"json line of report.{name}" for name in report_schema()["properties"])


# ---------------------------------------------------------------------- data


def _metrics() -> Iterator[str]:
    """The names and labels in metrics/families.py, read from its text: some families appear only while a crawl has
    them."""
    yield from (name for name, _ in families.COUNTERS.values())
    for node in ast.walk(ast.parse(inspect.getsource(families))):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            maker, name = ast.unparse(node.func), node.args[0].value
            if maker == "_gauge":
                yield f"graphbrain_{name}"
            elif maker == "_histogram":
                yield f"graphbrain_{name}_duration_seconds"
                yield f"graphbrain_{name}_duration_seconds label {name}"
            elif maker.endswith("MetricFamily"):
                yield str(name)
                labels = [ast.literal_eval(each.value) for each in node.keywords if each.arg == "labels"]
                yield from (f"{name} label {label}" for names in labels for label in names)


def _data() -> Iterator[str]:
    for label, properties in NODES.items():
        if label == "links":
            yield from (f"relationship {name}" for name in properties)
        else:
            yield f"label {label}"
            yield from (f"node property {label}.{name}" for name in properties)
    yield from (f"state {name}" for name in STATES)
    yield from (f"outcome {name}" for name in OUTCOMES)
    yield from (f"fault {name}" for name in FAULTS)


def difference() -> list[str]:
    """Return lines `-name` that disappeared since the list was accepted, and `+name` that are new."""
    known = RECORDED.read_text(encoding="utf-8").splitlines()
    changes = difflib.unified_diff(known, surface(), lineterm="", n=0)
    return [line for line in changes if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def main() -> None:
    """Print the difference, or accept it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="accept the surface as it is")
    if parser.parse_args().write:
        RECORDED.write_text("\n".join(surface()) + "\n", encoding="utf-8")
    else:
        sys.stdout.writelines(f"{line}\n" for line in difference())


if __name__ == "__main__":
    main()
