"""Scores of the whole graph on an Apache Spark cluster, from the Parquet files of `graphbrain dump tables`.

`blocks` and `steps` are pure functions of arrays for one block of pages, `cluster` runs them on Spark, and `ranks` is
the driver's part. The formulas are those of `scores.ranking.algorithms` and `scores.accounts.algebra`. Scores are
written as Parquet, from which `graphbrain rank --from` and `settle --from` bring them into the brain.
May touch: Spark, and files at the addresses that Spark reads and writes. Knows nothing of an open brain.
"""

__all__ = ["ranks", "runs", "session", "webgraph"]
