"""Whole runs: from a dump to a folder of scores.

A run reads the folder of `graphbrain dump tables`, compares it with its manifest, computes scores, and writes Parquet
files and a manifest into a new folder. The manifest is written last.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphbrain.analyst import frames, results
from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.options.scores import RankOptions
from graphbrain.brain.rank import UNKNOWN_RELEVANCE, for_later, ranking
from graphbrain.files.spark import ranks, session
from graphbrain.files.spark.cluster import Cluster, Cut, Weighed, cut, salsa
from graphbrain.files.spark.ranks import Found, Progress
from graphbrain.files.spark.session import Files
from graphbrain.scores.ranking.algorithms import Scores

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["On", "audit", "live_pagerank", "rank", "settle"]


@dataclass(frozen=True, slots=True)
class On:
    """A cluster, and the options of its use.

    Attributes:
        master: As of `spark-submit`; None: Spark's own settings.
        settings: Spark's settings by name.
        blocks: The number of blocks. None: it follows from the size of the web.
    """

    master: str | None = None
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    blocks: int | None = None


class _Run:
    """A dump that is read on Spark, and the folder for its results."""

    def __init__(self, spark: SparkSession, source: str, out: str, on: On) -> None:
        self.spark, self.files, self.on = spark, Files(spark), on
        self.source, self.out = self.files.absolute(source), self.files.absolute(out)
        self.work = f"{self.out}/work"
        if self.files.exists(self.out):
            raise BadInput(f"{out} exists already; name a new folder.")
        self.manifest = self.files.read(f"{self.source}/manifest.json")
        missing = [name for name in ("brain", "settings", "sums") if name not in self.manifest]
        if missing or self.manifest.get("version") != frames.VERSION:
            raise BadInput(
                f"{source} was dumped by another version of graphbrain: dump it anew with 'graphbrain dump tables'."
            )
        self.started = time.monotonic()
        self._kept: list[Cluster] = []

    @property
    def rule(self) -> Rule:
        """Return the brain's settings at the time of the dump."""
        return Rule(**self.manifest["settings"])

    def table(self, name: str) -> DataFrame:
        """Return a table of the dump.

        Raises:
            BadInput: The table is not the one of the manifest.
        """
        from pyspark.sql import functions as sql

        rows = self.spark.read.parquet(*(f"{self.source}/{each}" for each in self.manifest["tables"][name]["files"]))
        keys = sql.concat_ws(" ", *frames.SUMMED[name])
        row = rows.agg(sql.count("*"), sql.sum(sql.crc32(keys).cast("decimal(38,0)"))).first()
        have = (int(row[0]), int(row[1] or 0)) if row else (0, 0)
        wanted = (self.manifest["tables"][name]["rows"], self.manifest["sums"][name])
        if have != wanted:
            raise BadInput(
                f"The {name} in {self.source} are not those of its manifest ({have[0]:,} rows of {wanted[0]:,}, or "
                "others): copy the dump again, or make a new one."
            )
        return rows

    def cut(self, terms: Mapping[str, Column], weighed: Weighed) -> Cut:
        """Return the web in blocks, with these terms of its pages."""
        from pyspark.sql import functions as sql

        named = [column.cast("double").alias(name) for name, column in terms.items()]
        pages = self.table("pages").select("key", sql.coalesce("host", sql.lit("")).alias("host"), *named)
        links, leads = (self.table(name).select("source", "target") for name in ("links", "leads"))
        return cut(self.spark, pages, links.unionByName(leads), self.work, list(terms), weighed, self.on.blocks)

    def engine(self, web: Cut) -> Cluster:
        engine = Cluster(self.spark, self.files, web, self.work)
        self._kept.append(engine)
        return engine

    def free(self) -> None:
        """Free the data that executors keep. A session that stays open would keep it."""
        for engine in self._kept:
            engine.free()

    def write(self, scores: DataFrame, web: Cut, folder: str) -> None:
        """Write columns as Parquet, with keys in place of page numbers."""
        rows = scores.join(web.pages, "page").select("key", *(name for name in scores.columns if name != "page"))
        rows.write.parquet(f"{self.out}/{folder}")

    def end(self, kind: str, columns: Sequence[str], solution: Found, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write the manifest, and return it."""
        manifest = {
            "version": results.VERSION,
            "kind": kind,
            "columns": list(columns),
            **{name: self.manifest[name] for name in ("brain", "settings", "sums", "begun", "ended")},
            "pages": solution.pages,
            "links": solution.links,
            **facts,
            "seconds": round(time.monotonic() - self.started, 1),
        }
        self.files.write(f"{self.out}/manifest.json", manifest)
        return manifest


@contextmanager
def _running(source: str, out: str, on: On) -> Iterator[_Run]:
    with session.opened(on.master, on.settings) as spark:
        run = _Run(spark, source, out, on)
        try:
            yield run
        except BaseException:
            # Remove the new folder. If the cluster is lost, this fails, too: then only the first error is raised.
            with suppress(Exception):
                run.files.remove(run.out)
                run.free()
            raise
        run.free()
        run.files.remove(run.work)


def rank(source: str, out: str, wish: RankOptions, on: On, progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Score all pages of a dump by a method, and return the manifest of the scores.

    Args:
        source: The folder of a dump.
        out: A new folder.
        wish: The method and its options, checked.
        on: The cluster.
        progress: Is called after each iteration with its number and its change.

    Raises:
        BadInput: The dump is not complete, no page is trusted, or `out` exists.
    """
    with _running(source, out, on) as run:
        # Compute and write the scores.
        web = run.cut(_terms(run, wish), Weighed(only_external=wish.only_external))
        engine = run.engine(web)
        solution = ranks.rank(engine, wish, progress)
        if wish.method == "salsa":
            scores = salsa(engine.states(["hub", "authority", "out", "into"]))
        else:
            scores = engine.states(list(solution.columns.values())).toDF("page", *solution.columns)
        run.write(scores, web, "scores")
        # Write the manifest, with the facts that `graphbrain rank` stores.
        answer = Scores(
            {}, solution.iterations, solution.residual, solution.error, solution.converged, solution.eigenvalue
        )
        facts = ranking(wish, answer, solution.pages, solution.links, run.manifest["begun"]).as_dict()
        kept = {name: facts[name] for name in facts if name not in ("best", "seconds", "finished", "complete")}
        later = for_later(wish, solution.passed, solution.brought)
        return run.end("rank", list(solution.columns), solution, {"ranking": kept, "later": later})


def _terms(run: _Run, wish: RankOptions) -> dict[str, Column]:
    """Return the columns of pages that a method needs: weights for the restart, or for the authorities."""
    from pyspark.sql import functions as sql

    # Personalised PageRank restarts by relevance, and HITS can weigh authorities by it.
    relevance = sql.coalesce(sql.col("relevance"), sql.lit(UNKNOWN_RELEVANCE))
    if wish.method == "personalised":
        return {"restart": relevance}
    if wish.content:
        return {"content": relevance}
    if wish.method != "trustrank":
        return {}
    # TrustRank restarts at the trusted pages: those that were named, or the seeds.
    trusted = sql.col("is_seed")
    if wish.trusted is not None:
        trusted = sql.col("url").isin(list(wish.trusted)) | sql.col("key").isin(list(wish.trusted))
    trusted_pages = run.table("pages").where(trusted)
    count = trusted_pages.count()
    if wish.trusted is not None and count != len(set(wish.trusted)):
        raise BadInput(f"Of the trusted pages {count} are in the dump, by URL or key, of {len(set(wish.trusted))}.")
    if not count:
        raise BadInput("There are no seeds to trust; name the trusted pages, with --trust.")
    return {"restart": sql.coalesce(trusted, sql.lit(False))}


def settle(
    source: str, out: str, on: On, tolerance: float = SETTLED_TO, progress: Progress = lambda *_: None
) -> dict[str, Any]:
    """Find the fixed point of all accounts of a dump, and return the manifest of the scores.

    Arguments as in `rank`. `tolerance` is the bound on the relative error of the scores.

    Raises:
        BadInput: The dump is not complete, it is of the classic engine, or `out` exists.
    """
    from pyspark.sql import functions as sql

    with _running(source, out, on) as run:
        _exact(run)
        terms = {"relevance": sql.col("relevance"), "payout": sql.coalesce(sql.col("payout"), sql.lit(1.0))}
        web = run.cut(terms, Weighed(inside=run.rule.intra_host_weight))
        engine = run.engine(web)
        solution = ranks.settle(engine, run.rule, tolerance, progress)
        run.write(engine.states(list(solution.columns)), web, "scores")
        return run.end("settle", list(solution.columns), solution, _figures(solution, tolerance))


def live_pagerank(
    source: str, out: str, on: On, tolerance: float = SETTLED_TO, progress: Progress = lambda *_: None
) -> dict[str, Any]:
    """Find the fixed point of live PageRank of a dump, and return the manifest of the scores.

    Arguments and errors as in `settle`.
    """
    with _running(source, out, on) as run:
        web = run.cut({}, Weighed(inside=run.rule.intra_host_weight))
        engine = run.engine(web)
        solution = ranks.live_pagerank(engine, run.rule.live_pagerank, tolerance, progress)
        run.write(engine.states(["score"]).toDF("page", *solution.columns), web, "scores")
        return run.end("live_pagerank", list(solution.columns), solution, _figures(solution, tolerance))


def _exact(run: _Run) -> None:
    if run.rule.engine != "exact":
        raise BadInput(f"The dump's accounts are of the engine {run.rule.engine}; only those of 'exact' settle.")


def _figures(solution: Found, tolerance: float) -> dict[str, Any]:
    names = ("iterations", "residual", "error", "converged")
    return {"tolerance": tolerance, **{name: getattr(solution, name) for name in names}}


def audit(source: str, out: str, on: On) -> dict[str, Any]:
    """Compare all accounts of a dump with the payments of their neighbours, and return the manifest of the findings.

    The accounts are of one moment only if no process wrote during the dump. Arguments and errors as in `settle`.
    """
    from pyspark.sql import functions as sql

    from graphbrain.files.spark.steps import AUDITED

    with _running(source, out, on) as run:
        _exact(run)
        # Recompute the accounts.
        same = ("authority", "hub", "hub_paid", "authority_paid", "in_weight", "out_weight", "relevance")
        forwards = ("live_pagerank", "live_pagerank_paid", "flow", "flow_paid")
        terms = {name: sql.col(name) for name in (*same, *forwards)}
        terms |= {"payout": sql.coalesce(sql.col("payout"), sql.lit(1.0)), "seed": sql.col("is_seed")}
        web = run.cut(terms, Weighed(inside=run.rule.intra_host_weight))
        engine = run.engine(web)
        sums = ranks.audit(engine, run.rule)
        # Write the pages with faults, and the manifest with their numbers.
        columns = [f"{name}_{side}" for name in AUDITED for side in ("has", "due")]
        wrong = engine.states(["wrong", *columns]).where(sql.col("wrong") > 0)
        run.write(wrong.drop("wrong"), web, "findings")
        solution = Found({}, int(sums["pages"]), int(sums["links"]), 0, 0.0, 0.0, True)
        bound = sums["waiting"] / max(run.rule.alpha * sums["scores"], 1e-300)
        faults = {name: int(sums[name]) for name in AUDITED}
        facts = {"faults": faults, "error_bound": bound, "clean": not any(faults.values())}
        return run.end("audit", columns, solution, facts)
