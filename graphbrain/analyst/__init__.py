"""Answers about a crawl for analysts: questions in Cypher, findings, figures, the audit, tables, the summary.

A question is a file of `cypher/analyst/`, to be pasted into Neo4j Browser or asked by its name. Python computes the
answers of some, such as near duplicates, islands and link farms (`computed`). `frames` has the crawl as tables: Arrow,
pandas, Polars, Parquet files. `inspect` scans pages and links, counts figures, and proves by the audit that accounts,
leases, queues and indexes agree. May touch: reading transactions only; a folder that the user names for Parquet files;
a socket on loopback for the guide.
"""

__all__ = [
    "findings",
    "frames",
    "guide",
    "inspect",
    "last_look",
    "moving",
    "questions",
    "results",
    "summary",
]
