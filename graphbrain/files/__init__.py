"""Files in and out: imports, dumps as CSV and JSON lines, lists of seeds, scores of large graphs on Apache Spark.

`importer` fills an empty brain from files of pages and links that `reader` reads, and `dump` writes such files. `spark`
computes scores of the whole graph from the Parquet files of `graphbrain dump tables`, which `analyst.frames` writes.
May touch: the user's files, Spark, and a local server while a database is made beside it.
"""

__all__ = [
    "dump",
    "formats",
    "harvest",
    "importer",
    "reader",
    "seed_files",
    "spark",
]
