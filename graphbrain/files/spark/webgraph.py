"""Common Crawl's web graphs, cut to the best hosts or domains, as JSON lines for `graphbrain import`.

A release has three text files: vertices (`id`, reversed name, and for domains the number of hosts), edges (`id`, `id`),
and ranks (position and value by harmonic centrality and by PageRank, reversed name). A host becomes the page
`http://NAME/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphbrain.base.errors import BadInput
from graphbrain.files.spark import session
from graphbrain.files.spark.runs import On
from graphbrain.files.spark.session import Files

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["cut"]

RANKS = "harmonicc_pos bigint, harmonicc_val double, pr_pos bigint, pr_val double, name string"


def cut(vertices: str, edges: str, ranks: str | None, out: str, top: int | None, on: On) -> dict[str, Any]:
    """Write the hosts or domains of a web graph and the links between them, and return the counts.

    Each line is a visit: the URL of a host, the hosts that it links to, and its `value`. This is its PageRank, scaled
    so that the written hosts have the mean 1. A host without links in both directions is left out.

    Args:
        vertices: A file, a folder or a pattern, gzipped or not.
        edges: A file, a folder or a pattern, gzipped or not.
        ranks: A file, a folder or a pattern, gzipped or not. None: hosts have no value.
        out: A new folder.
        top: The number of best hosts by PageRank that are kept; None: all.
        on: The cluster.

    Raises:
        BadInput: The files have another format, `top` is given without ranks, or `out` is there.
    """
    if top is not None and ranks is None:
        raise BadInput("The best hosts are known from the rank file: give --ranks with --top.")
    with session.opened(on.master, on.settings) as spark:
        files = Files(spark)
        if files.exists(out):
            raise BadInput(f"{out} exists already; name a new folder.")
        return _cut(spark, vertices, edges, ranks, out, top)


def _cut(
    spark: SparkSession, vertices: str, edges: str, ranks: str | None, out: str, top: int | None
) -> dict[str, Any]:
    from pyspark import StorageLevel
    from pyspark.sql import functions as sql

    # Read the files, and refuse those of another format.
    hosts = _table(spark, vertices, "id bigint, name string")
    links = _table(spark, edges, "source bigint, target bigint")
    _refuse_others(hosts, vertices, sql.col("id").isNull() | sql.col("name").isNull())
    _refuse_others(links, edges, sql.col("source").isNull() | sql.col("target").isNull())
    # Keep the best hosts, with their PageRank.
    if ranks is not None:
        ranked = _table(spark, ranks, RANKS)
        _refuse_others(ranked, ranks, sql.col("pr_pos").isNull() | sql.col("name").isNull())
        if top is not None:
            hosts = hosts.join(ranked.where(sql.col("pr_pos") <= top).select("name", "pr_val"), "name")
        else:
            hosts = hosts.join(ranked.select("name", "pr_val"), "name", "left")
    else:
        hosts = hosts.withColumn("pr_val", sql.lit(None).cast("double"))
    hosts = hosts.persist(StorageLevel.MEMORY_AND_DISK)
    row = hosts.agg(sql.count("*"), sql.avg("pr_val")).first()
    kept, mean = (int(row[0]), row[1]) if row else (0, None)
    if not kept:
        raise BadInput(f"No host of {vertices} is among the best of {ranks}: do the files belong together?")
    # Give each link the URLs and values of both hosts.
    value = sql.col("pr_val") / sql.lit(mean) if mean else sql.lit(None).cast("double")
    named = hosts.select("id", _url(sql.col("name")).alias("url"), value.alias("value"))
    source = named.select(sql.col("id").alias("source"), sql.col("url").alias("from"), sql.col("value").alias("worth"))
    target = named.select(sql.col("id").alias("target"), "url", "value")
    pairs = links.join(source, "source").join(target, "target")
    # Write a line for each host with links.
    visits = (
        pairs.groupBy("source")
        .agg(
            sql.first("from").alias("url"),
            sql.first("worth").alias("value"),
            sql.count("*").alias("count"),
            sql.collect_list(sql.struct("url", "value")).alias("links"),
        )
        .persist(StorageLevel.MEMORY_AND_DISK)
    )
    sums = visits.agg(sql.count("*"), sql.sum("count")).first()
    visits.select("url", "value", "links").write.option("compression", "gzip").json(out)
    for kept_table in (hosts, visits):
        kept_table.unpersist()
    return {"hosts": kept, "linking": int(sums[0]) if sums else 0, "links": int(sums[1] or 0) if sums else 0}


def _table(spark: SparkSession, address: str, schema: str) -> DataFrame:
    return spark.read.csv(address, schema=schema, sep="\t", comment="#", quote="", mode="PERMISSIVE")


def _refuse_others(table: DataFrame, address: str, wrong: Column) -> None:
    """Raise BadInput if a row of a file lacks a column or has a text where a number should be."""
    if row := table.where(wrong).first():
        raise BadInput(
            f"{address} has a line that is not of Common Crawl's web graphs: {' '.join(map(str, row))[:200]!r}."
        )


def _url(reversed_name: Column) -> Column:
    from pyspark.sql import functions as sql

    name = sql.array_join(sql.reverse(sql.split(reversed_name, r"\.")), ".")
    return sql.concat(sql.lit("http://"), name, sql.lit("/"))
