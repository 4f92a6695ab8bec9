"""The engine on Spark, and the division of a dump into blocks.

A row of a block has a `kind`: its links, the places that another block links to, its terms, its state, a message, or
its sums. The rows that never change are partitioned by block once and kept. A step joins them with the results of the
step before. Only these results are shuffled: one number for each page and each block that links to it, and the state of
each page.

The results of a step are kept until the next one is done. Every CHECKPOINT steps they are written to files and read
from there, so that a lost executor costs at most the steps since then. Executors keep results on their disks, which the
system caches. In Java's memory the results would leave too little room for tasks when an executor is lost. The driver
collects only sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbrain.base.numeric.arrays import Floats
from graphbrain.files.spark.blocks import BITS, WAYS, Block, Links, pack, place_of, unpack
from graphbrain.files.spark.engine import apply
from graphbrain.files.spark.session import Files
from graphbrain.files.spark.steps import SUMS, Broadcast, State, Step
from graphbrain.scores.ranking import algorithms

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Cluster", "Cut", "Weighed", "cut", "salsa"]

CHECKPOINT = 8
LINKS_EACH, PAGES_EACH = 1_000_000, 500_000
"""The largest numbers of links and pages of a block, on average. A link takes 30 to 60 bytes in one process while
blocks are made, and 4 to 16 later. Hashing puts up to four blocks into one partition, which must fit into the 1 GB of
Java that an executor has by default. Larger blocks take less time, because a part of a task's cost does not depend on
its size. But two executors of 2 GB ran out of memory with 30 million links in blocks of 2.5 million, when Java still
held the results of steps."""
BLOCKS_EACH = 2
"""The least number of blocks for each processor, so that processors share the work evenly."""
STATIC = "block int, kind string, peer int, data binary"
MOVING = STATIC + ", names string, sums array<double>"
LINKS, PLACES, TERMS, STATE, TOTAL = "links", "places", "terms", "state", "sums"


@dataclass(frozen=True, slots=True)
class Weighed:
    """The weights of links. Links inside a host weigh `inside`, or are left out if `only_external` is set."""

    inside: float = 1.0
    only_external: bool = False

    @property
    def knows_hosts(self) -> bool:
        """Return True if weights depend on the hosts of both ends."""
        return self.only_external or self.inside != 1.0


@dataclass(frozen=True, slots=True)
class Cut:
    """A web in blocks.

    Attributes:
        rows: The rows of all blocks.
        pages: The columns `page`, the number of each page, and `key`.
        blocks: The number of blocks.
    """

    rows: DataFrame
    pages: DataFrame
    blocks: int


def cut(
    spark: SparkSession,
    pages: DataFrame,
    links: DataFrame,
    work: str,
    terms: Sequence[str],
    weighed: Weighed,
    blocks: int | None = None,
) -> Cut:
    """Number the pages by host and key, and divide their links into blocks. Both are written to files and read from
    there.

    Args:
        spark: The session.
        pages: The columns `key`, `host` and those of `terms`, which are doubles; null is nan.
        links: The columns `source` and `target`, which are keys. Links of pages that are not in `pages` are left out.
        work: A folder that all executors can read and write.
        terms: Columns that the steps need.
        weighed: The weights of links.
        blocks: The number of blocks. None: it follows from the size.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as sql

    # Number the pages.
    if blocks is None:
        each = max(links.count() / LINKS_EACH, pages.count() / PAGES_EACH)
        blocks = max(BLOCKS_EACH * spark.sparkContext.defaultParallelism, int(np.ceil(each)))
    spark.conf.set("spark.sql.shuffle.partitions", str(blocks))
    ranged = pages.repartitionByRange(blocks, "host", "key").sortWithinPartitions("host", "key")
    # A page number is that of a row within its partition. Numbers are written to files at once, because Spark would
    # compute other numbers if it computed them again.
    ranged.select(sql.monotonically_increasing_id().alias("page"), "*").write.parquet(f"{work}/pages")
    numbered = spark.read.parquet(f"{work}/pages")
    # Replace keys by numbers in the links, and weigh the links.
    block = sql.shiftright("page", BITS).cast("int")
    hosts = ("host",) if weighed.knows_hosts else ()
    sources = numbered.select(sql.col("key").alias("source"), sql.col("page").alias("s"), *_named("source_", hosts))
    targets = numbered.select(sql.col("key").alias("target"), sql.col("page").alias("t"), *_named("target_", hosts))
    pairs_of = links.join(sources, "source").join(targets, "target")
    weight = sql.lit(1.0)
    if weighed.knows_hosts:
        inside = sql.col("source_host") == sql.col("target_host")
        pairs_of = pairs_of.where(~inside) if weighed.only_external else pairs_of
        weight = sql.when(inside, sql.lit(weighed.inside)).otherwise(1.0)
    has_weights = weighed.inside != 1.0 and not weighed.only_external
    pairs = pairs_of.select("s", "t", *([weight.alias("w")] if has_weights else []))
    # Group links and terms by block.
    grouped = pairs.groupBy(sql.shiftright("s", BITS).cast("int").alias("block")).applyInArrow(_links, STATIC)
    own = numbered.select(block.alias("block"), "page", *terms)
    columns = own.groupBy("block").applyInArrow(_terms, STATIC)
    grouped.union(columns).write.parquet(f"{work}/blocks")
    # A row of a block has megabytes. A vectorized reader would hold thousands of rows at once.
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
    rows = spark.read.parquet(f"{work}/blocks").repartition(blocks, "block")
    return Cut(rows.persist(StorageLevel.DISK_ONLY), numbered.select("page", "key"), blocks)


def _named(prefix: str, names: Sequence[str]) -> list[Any]:
    from pyspark.sql import functions as sql

    return [sql.col(name).alias(prefix + name) for name in names]


class Cluster:
    """The engine on Spark, with the rows of one web and the results of the last step."""

    def __init__(self, spark: SparkSession, files: Files, web: Cut, work: str) -> None:
        self._spark, self._files, self._web, self._work = spark, files, web, work
        self._moving: DataFrame = spark.createDataFrame([], MOVING)
        self._steps = 0
        self._saved: str | None = None

    def run(self, step: Step, broadcast: Broadcast) -> Mapping[str, float]:
        """Run a step on all blocks, and return the sums over all pages (see `Engine.run`)."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as sql

        task = partial(_task, step=step, broadcast=dict(broadcast))

        # Spark passes the key to a function of three parameters.
        def work(key: Any, static: pyarrow.Table, moving: pyarrow.Table) -> pyarrow.Table:
            return task(key, static, moving)

        # Join each block's rows with the results for it.
        static = self._web.rows.groupBy("block")
        before = self._moving
        after = static.cogroup(before.groupBy("block")).applyInArrow(work, MOVING)
        after = after.persist(StorageLevel.DISK_ONLY)
        # Collect the sums. This runs the step.
        numbers = [sql.sum(sql.get("sums", sql.lit(column))) for column in range(SUMS)]
        row = after.where(sql.col("kind") == TOTAL).agg(sql.max("names"), *numbers).first()
        before.unpersist()
        self._moving, self._steps = after, self._steps + 1
        if self._steps % CHECKPOINT == 0:
            self._checkpoint()
        names = (row[0] or "").split() if row else []
        return {name: float(value or 0.0) for name, value in zip(names, list(row or ())[1:], strict=False)}

    def _checkpoint(self) -> None:
        """Write the messages and states to files, read them from there from now on, and remove the last checkpoint."""
        folder = f"{self._work}/step-{self._steps:06}"
        self._moving.write.parquet(folder)
        self._moving.unpersist()
        self._moving = self._spark.read.parquet(folder)
        if self._saved is not None:
            self._files.remove(self._saved)
        self._saved = folder

    def free(self) -> None:
        """Free the rows of the web and the results of the last step."""
        self._moving.unpersist()
        self._web.rows.unpersist()

    def states(self, columns: Sequence[str]) -> DataFrame:
        """Return columns of the states by page number (`page`)."""
        from pyspark.sql import functions as sql

        rows = self._moving.where(sql.col("kind") == STATE).select("block", "data")
        schema = ", ".join(["page bigint", *(f"{name} double" for name in columns)])
        return rows.mapInArrow(partial(_spread, columns=tuple(columns)), schema)


def salsa(states: DataFrame) -> DataFrame:
    """Return the SALSA scores of pages by the labels of their communities and the numbers of their links."""
    from pyspark.sql import functions as sql

    scored = states.select("page")
    for side, links in (("hub", "out"), ("authority", "into")):
        mine = states.select("page", sql.col(side).alias("label"), sql.col(links).alias("links"))
        sizes = mine.groupBy("label").agg(
            sql.sum((sql.col("links") > 0).cast("double")).alias("members"), sql.sum("links").alias("all_links")
        )
        row = sizes.agg(sql.sum("members")).first()
        members = int((row[0] if row else 0) or 0)
        each = sizes.mapInArrow(partial(_salsa_each, members=members), "label double, each double")
        joined = mine.join(each, "label")
        scored = scored.join(joined.select("page", (sql.col("links") * sql.col("each")).alias(f"salsa_{side}")), "page")
    return scored


# ---------------------------------------------------------------------- on executors


def _rows(rows: Sequence[tuple[int, str, int, bytes]]) -> pyarrow.Table:
    import pyarrow

    block, kind, peer, data = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pyarrow.table(
        {
            "block": pyarrow.array(block, pyarrow.int32()),
            "kind": pyarrow.array(kind, pyarrow.string()),
            "peer": pyarrow.array(peer, pyarrow.int32()),
            "data": pyarrow.array(data, pyarrow.binary()),
        }
    )


def _numbers(column: Any) -> Any:
    return column.combine_chunks().to_numpy(zero_copy_only=False)


def _links(key: Any, table: pyarrow.Table) -> pyarrow.Table:
    """Return the rows of a block's links: its own, and one for each block that it links to."""
    number = int(key[0].as_py())
    weights = _numbers(table["w"]) if "w" in table.column_names else None
    links, targets = Links.of(_numbers(table["s"]), _numbers(table["t"]), weights)
    own = {name: getattr(links, name) for name in ("blocks", "bounds", "offsets", "sources", "weights")}
    rows = [(number, LINKS, -1, pack(own))]
    for other, columns in links.by_block():
        rows.append((other, PLACES, number, place_of(targets[columns]).astype(np.int32).tobytes()))
    return _rows(rows)


def _terms(key: Any, table: pyarrow.Table) -> pyarrow.Table:
    """Return the row of a block's terms, in the order of its pages."""
    order = np.argsort(_numbers(table["page"]), kind="stable")
    names = [name for name in table.column_names if name not in ("block", "page")]
    columns = {name: np.asarray(_numbers(table[name]), dtype=np.float64)[order] for name in names}
    return _rows([(int(key[0].as_py()), TERMS, -1, pack({**columns, "pages": np.array(len(order))}))])


def _task(key: Any, static: pyarrow.Table, moving: pyarrow.Table, step: Step, broadcast: Broadcast) -> pyarrow.Table:
    """Run a step on one block, and return the rows of its state, its messages and its sums."""
    import pyarrow

    # Run the step.
    block = _block(int(key[0].as_py()), static)
    state, way, messages = _arrived(moving)
    result = apply(block, state, way, messages, step, broadcast)
    # The state names the way of the messages, because a block without messages needs it, too.
    way_after = -1 if result.send is None else WAYS.index(result.send[0])
    rows = [(block.number, STATE, way_after, pack(result.state))]
    if result.send is not None:
        sent = block.send(*result.send)
        rows += [(other, result.send[0], block.number, numbers.tobytes()) for other, numbers in sent]
    rows.append((block.number, TOTAL, -1, b""))
    # The sums are in the last row.
    table = _rows(rows)
    names, sums = list(result.sums), [float(value) for value in result.sums.values()]
    empty: list[Any] = [None] * (len(rows) - 1)
    table = table.append_column("names", pyarrow.array([*empty, " ".join(names)], pyarrow.string()))
    return table.append_column("sums", pyarrow.array([*empty, sums], pyarrow.list_(pyarrow.float64())))


def _block(number: int, static: pyarrow.Table) -> Block:
    links: Links | None = None
    linked: dict[int, Any] = {}
    terms: dict[str, Floats] = {}
    for kind, peer, data in zip(
        static["kind"].to_pylist(), static["peer"].to_pylist(), _buffers(static["data"]), strict=True
    ):
        if kind == LINKS:
            links = Links(**unpack(data))
        elif kind == PLACES:
            linked[peer] = np.frombuffer(data, dtype=np.int32)
        else:
            terms = unpack(data)
    pages = int(terms.pop("pages"))
    none = np.empty(0, dtype=np.int64)
    return Block(number, pages, links or Links.of(none, none)[0], linked, terms)


def _arrived(moving: pyarrow.Table) -> tuple[State, str | None, dict[int, Floats]]:
    state: State = {}
    way: str | None = None
    messages: dict[int, Floats] = {}
    for kind, peer, data in zip(
        moving["kind"].to_pylist(), moving["peer"].to_pylist(), _buffers(moving["data"]), strict=True
    ):
        if kind == STATE:
            state, way = unpack(data), WAYS[peer] if peer >= 0 else None
        elif kind in WAYS:
            messages[peer] = np.frombuffer(data, dtype=np.float64)
    return state, way, messages


def _buffers(column: Any) -> Iterator[Any]:
    """Yield the bytes of each row, without a copy."""
    for value in column:
        yield value.as_buffer()


def _spread(batches: Iterator[pyarrow.RecordBatch], columns: Sequence[str]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the states of blocks as one row for each page."""
    import pyarrow

    for batch in batches:
        for block, data in zip(batch["block"].to_pylist(), batch["data"], strict=True):
            state = unpack(data.as_buffer())
            pages = len(state[columns[0]])
            numbers = (int(block) << BITS) + np.arange(pages)
            yield pyarrow.record_batch({"page": numbers, **{name: state[name] for name in columns}})


def _salsa_each(batches: Iterator[pyarrow.RecordBatch], members: int) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    for batch in batches:
        each = algorithms.salsa_each(_flat(batch["members"]), _flat(batch["all_links"]), members)
        yield pyarrow.record_batch({"label": batch["label"], "each": each})


def _flat(column: Any) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
