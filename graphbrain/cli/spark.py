"""The commands that compute on an Apache Spark cluster: spark rank, spark settle, spark audit, spark import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.options.scores import RankOptions, checked
from graphbrain.cli.common import F, as_json
from graphbrain.cli.declared import options
from graphbrain.terminal import show

__all__ = ["COMMANDS"]

LIVE_PAGERANK = "live_pagerank"


@click.group("spark")
def spark_group() -> None:
    """Compute scores of the whole graph on an Apache Spark cluster.

    SRC is a folder that 'graphbrain dump tables' has written: a path, or an address as file:, hdfs: or s3a:, which all
    executors reach. Needs the extra 'spark' and Java 17 or later. It needs no brain; 'graphbrain rank --from' and
    'graphbrain settle --from' bring the scores back.
    """


def _where(command: F) -> F:
    """Give a command the options that name the result and the cluster."""
    for option in (
        as_json,
        click.option("--conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark; repeatable."),
        click.option(
            "--master", metavar="URL", help="Spark's master, as spark://HOST:7077 (spark.master, or local[*])."
        ),
        click.option("--out", required=True, metavar="DIR", help="A new folder for the result."),
    ):
        command = option(command)
    return command


_blocks = click.option(
    "--blocks", type=click.IntRange(1), help="Blocks of pages (by the size, at least 2 a processor)."
)


def _on(master: str | None, conf: tuple[str, ...], blocks: int | None = None) -> Any:
    from graphbrain.files.spark.runs import On

    settings = {}
    for text in conf:
        name, given, value = text.partition("=")
        if not given or not name.startswith("spark."):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE with a name of Spark.", param_hint="'--conf'")
        settings[name] = value
    return On(master, settings, blocks)


@contextmanager
def _progress() -> Iterator[Callable[[int, float], None]]:
    with show.task_bar() as bar:
        bar("starting Spark, reading the dump", 0, 0)
        yield lambda number, change: bar(f"iteration {number}, change {change:.1e}", 0, 0)


def _end(out: str, manifest: Mapping[str, Any], as_json: bool) -> int:
    """Print what was done, and return the exit code."""
    facts = manifest.get("ranking") or manifest
    # Print the figures of the run.
    names = ("iterations", "residual", "error", "error_bound", "converged")
    pairs = [(name.replace("_", " "), facts[name]) for name in names if facts.get(name) is not None]
    counts = [(name, manifest[name]) for name in ("pages", "links")]
    faults = [(f"faults: {name}", count) for name, count in manifest.get("faults", {}).items()]
    sheet = show.sheet([*counts, *pairs, *faults, ("seconds", manifest["seconds"]), ("in", out)])
    show.answer(manifest, sheet, as_json)
    # Print what is wrong with the result.
    good = facts.get("converged", manifest.get("clean"))
    if not good and "clean" in manifest:
        show.say(
            f"graphbrain: some accounts are not what their neighbours have paid; the pages are in {out}/findings. They "
            "may have changed during the dump: 'graphbrain audit --all' looks at the brain itself."
        )
    elif not good:
        show.say("graphbrain: the tolerance was not reached; allow more --iterations, or take a larger --tolerance.")
    return 0 if good else 1


@spark_group.command("rank")
@click.argument("method", type=click.Choice([*METHODS, LIVE_PAGERANK]))
@click.argument("source", metavar="SRC")
@options(
    "rank",
    *("damping", "tolerance", "iterations", "only_external", "content", "trusted"),
    helps={"tolerance": "Acceptable error of all scores together (1e-9; live_pagerank: 1e-7)."},
)
@_where
@_blocks
def spark_rank(
    method: str,
    source: str,
    damping: float | None,
    tolerance: float | None,
    iterations: int | None,
    only_external: bool,
    content: bool,
    trusted: tuple[str, ...],
    out: str,
    as_json: bool,
    **where: Any,
) -> int:
    """Score all pages of a dump.

    The methods and options are those of 'graphbrain rank'; 'live_pagerank' is the score of that name at its fixed
    point. Exits 1 when the tolerance was not reached.
    """
    from graphbrain.files.spark import runs

    on = _on(**where)
    if method == LIVE_PAGERANK:
        if damping is not None or iterations is not None or only_external or content or trusted:
            raise click.UsageError("live_pagerank has no option but --tolerance.")
        given = {} if tolerance is None else {"tolerance": tolerance}
        with _progress() as progress:
            manifest = runs.live_pagerank(source, out, on, progress=progress, **given)
        return _end(out, manifest, as_json)
    wish = checked(RankOptions(method, damping, tolerance, iterations, only_external, content, trusted or None))
    with _progress() as progress:
        manifest = runs.rank(source, out, wish, on, progress)
    return _end(out, manifest, as_json)


@spark_group.command("settle")
@click.argument("source", metavar="SRC")
@options("settle", "tolerance")
@_where
@_blocks
def spark_settle(source: str, tolerance: float | None, out: str, as_json: bool, **where: Any) -> int:
    """Find the scores at which no cash is left to spread.

    Relevance, payouts and the weight of links inside a host are those of the dump. Exits 1 when the tolerance was not
    reached.
    """
    from graphbrain.files.spark import runs

    given = {} if tolerance is None else {"tolerance": tolerance}
    on = _on(**where)
    with _progress() as progress:
        manifest = runs.settle(source, out, on, progress=progress, **given)
    return _end(out, manifest, as_json)


@spark_group.command("audit")
@click.argument("source", metavar="SRC")
@_where
@_blocks
def spark_audit(source: str, out: str, as_json: bool, **where: Any) -> int:
    """Compare all accounts of a dump with what their neighbours have paid.

    Pages that are off are written to DIR/findings. A page that a crawler has changed during the dump can be off, too.
    Exits 1 when a page is off.
    """
    from graphbrain.files.spark import runs

    on = _on(**where)
    with _progress():
        manifest = runs.audit(source, out, on)
    return _end(out, manifest, as_json)


@spark_group.command("import")
@click.argument("vertices")
@click.argument("edges")
@click.option("--ranks", metavar="FILE", help="The rank file; its PageRank becomes the value of hosts.")
@click.option("--top", type=click.IntRange(1), help="Keep so many hosts, the best by PageRank (all).")
@_where
def spark_import(
    vertices: str, edges: str, ranks: str | None, top: int | None, out: str, as_json: bool, **where: Any
) -> None:
    """Cut a web graph of Common Crawl for 'graphbrain import'.

    VERTICES and EDGES are the text files of a host graph or a domain graph: a file, a folder or a pattern, gzipped or
    not. The result is JSON lines of hosts, their links and values, which 'graphbrain import' takes and settles.
    """
    from graphbrain.files.spark import webgraph

    done = webgraph.cut(vertices, edges, ranks, out, top, _on(**where))
    show.answer(done, show.sheet([*done.items(), ("in", out)]), as_json)


COMMANDS = (spark_group,)
