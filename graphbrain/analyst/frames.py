"""A crawl as tables for DuckDB, Polars, pandas: pages, links, leads, spells, hosts.

The tables are Arrow in memory, or Parquet in a folder. They identify a page by its key, and do not have Neo4j's ids.
Each range of internal ids is read in a separate transaction that cannot write. So a dump is no snapshot, and its
manifest has the revision of the brain's settings at the beginning and at the end. Memory: one part of some tens of
thousands of rows.
Statements: brain/read, exports/last_id, looks/page_rows, looks/link_rows, looks/lead_rows, looks/spelt_rows,
looks/host_rows.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphbrain.analyst.computed import soft_missing
from graphbrain.analyst.indexability import INDEXABLE, SOFT_BITS, reasons
from graphbrain.analyst.inspect.clicks import Clicks, clicks
from graphbrain.base.errors import BadInput
from graphbrain.base.numeric.methods import SCORES
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.urls.masking import masked
from graphbrain.graph.connection import Graph, Tx, bound

if TYPE_CHECKING:
    import pyarrow

__all__ = ["KINDS", "SUMMED", "TABLES", "VERSION", "Progress", "dump", "frame", "identity"]

Progress = Callable[[str, int, int], None]
"""(table, ids done, ids in all)"""

VERSION = 2
RANGE, LINK_RANGE, HOSTS = 20_000, 5_000, 10_000
PART_ROWS = 500_000
KINDS = ("arrow", "pandas", "polars")

_TEXT, _WHOLE, _NUMBER, _TRUE = "string", "int64", "double", "bool"
_ITEMS = {"times": "time", "texts": _TEXT, "wholes": _WHOLE}
"""The type of the items of each type of list."""
_TIMES = (
    "discovered",
    "first_fetched",
    "fetched",
    "changed",
    "failed",
    "not_before",
    "waiting_since",
    "lease_until",
    "hinted",
)
PAGES = (
    {"key": _TEXT, "url": _TEXT, "host": _TEXT, "state": _TEXT, "depth": _WHOLE, "clicks": _WHOLE, "is_seed": _TRUE}
    | {"failing": _TRUE, "indexability": _TEXT, "indexability_also": "texts"}
    | dict.fromkeys(("authority", "hub"), _NUMBER)
    | dict.fromkeys(("out_links", "in_links"), _WHOLE)
    | dict.fromkeys(_TIMES, "time")
    | dict.fromkeys(("visits", "changes", "errors", "status", "simhash"), _WHOLE)
    | dict.fromkeys(("error", "fault", "outside_because", "parked_because", "worker", "body_hash", "text_hash"), _TEXT)
    | dict.fromkeys(("etag", "last_modified", "hinted_by", "redirects_to"), _TEXT)
    | {"in_sitemap": "time", "title": _TEXT, "canonical": _TEXT, "noindex": _TRUE, "language": _TEXT, "size": _WHOLE}
    | {"content_type": _TEXT, "fetch_seconds": _NUMBER, "led_to": "texts", "nofollow": _TRUE, "canonicals": "texts"}
    | {"titles": "texts", "descriptions": "texts", "h1": "texts", "words": _WHOLE, "hreflang": "texts"}
    | {"requisites": "texts", "structured": "texts"}
    | {"password_field": _TRUE}
    | {"changed_in": "texts"}
    | {"change_times": "times", "state_times": "times", "states_before": "texts"}
    | {"failure_times": "times", "failure_statuses": "wholes"}
    | dict.fromkeys(("hub_paid", "authority_paid", "out_weight", "in_weight"), _NUMBER)
    | dict.fromkeys(("live_pagerank", "live_pagerank_paid", "flow", "flow_paid"), _NUMBER)
    | dict.fromkeys(("relevance", "value", "payout", "rate_shape", "rate_scale", "interval", *SCORES), _NUMBER)
)
LINKS = {"source": _TEXT, "target": _TEXT, "since": "time", "via_alias": _TRUE, "anchor": _TEXT, "rel": _TEXT}
LEADS = {"source": _TEXT, "target": _TEXT, "since": "time", "alias": _TEXT, "status": _WHOLE}
"""Temporary redirects. For scores, each counts as a link."""
SPELLS = {"source": _TEXT, "alias": _TEXT, "anchor": _TEXT, "rel": _TEXT}
HOSTS_COLUMNS = (
    {"name": _TEXT, "address": _TEXT}
    | dict.fromkeys(("discovered", "next_at", "blocked_until", "robots_at"), "time")
    | dict.fromkeys(("errors", "unanswered", "in_flight", "most_in_flight", "budget", "budget_used"), _WHOLE)
    | dict.fromkeys(("pace", "response_seconds", "delay", "robots_delay"), _NUMBER)
)
TABLES = {"pages": PAGES, "links": LINKS, "leads": LEADS, "spells": SPELLS, "hosts": HOSTS_COLUMNS}
"""Table → its columns → their types. A time is in epoch seconds in the graph, and a UTC timestamp in the table."""
SUMMED = {"pages": ("key",), "links": ("source", "target"), "leads": ("source", "target")}
"""Table with a sum in the manifest → the columns that identify a row."""
SCORED = ("engine", "alpha", "intra_host_weight", "payout", "target_relevance", "target_hosts")
"""Settings on which scores depend."""
_OF_RANGE = {
    "pages": "looks/page_rows",
    "links": "looks/link_rows",
    "leads": "looks/lead_rows",
    "spells": "looks/spelt_rows",
}


def frame(graph: Graph, table: str, kind: str = "arrow", progress: Progress = lambda *_: None) -> Any:
    """Return a table in memory.

    Args:
        graph: The brain's graph.
        table: `pages`, `links`, `leads`, `spells` or `hosts`.
        kind: `arrow`, `pandas` or `polars`.
        progress: Called with the table, the ids read and the ids in all.

    Raises:
        BadInput: Another name, or the extra `tables` is not installed.
    """
    if table not in TABLES or kind not in KINDS:
        raise BadInput(f"A frame is of {', '.join(TABLES)}, as {', '.join(KINDS)}; not {table!r:.80} as {kind!r:.80}.")
    arrow = needed()
    schema = _schema(table)
    whole = arrow.Table.from_batches(list(_batches(graph, table, progress)), schema)
    if kind == "arrow":
        return whole
    try:
        if kind == "pandas":
            import pandas

            # Whole numbers stay whole where some are missing: a float has too few bits for a simhash.
            return whole.to_pandas(types_mapper={arrow.int64(): pandas.Int64Dtype()}.get)
        import polars

        return polars.from_arrow(whole)
    except ImportError:
        raise BadInput(f"{kind} is not installed; 'pip install {kind}' brings it.") from None


def dump(graph: Graph, folder: Path, now: Callable[[], float], progress: Progress = lambda *_: None) -> dict[str, Any]:
    """Write all tables as Parquet into a new or empty folder, and return the manifest, which is written last.

    Files are `pages/part-00000.parquet` and so on, of up to PART_ROWS rows each, and `manifest.json`. A folder without
    a manifest is incomplete. Raise BadInput if the folder is not empty or cannot be written.
    """
    needed()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadInput(f"{folder} is not empty; name a new folder.")
        manifest: dict[str, Any] = {
            "version": VERSION,
            "begun": now(),
            "revision_begun": _revision(graph),
            **identity(graph),
            "tables": {},
            "sums": {},
        }
        for table in TABLES:
            rows, sum_, files = _write(graph, folder, table, progress)
            columns = {field.name: str(field.type) for field in _schema(table)}
            manifest["tables"][table] = {"rows": rows, "files": files, "columns": columns}
            if table in SUMMED:
                manifest["sums"][table] = sum_
        # The manifest comes last: a folder without it is incomplete.
        manifest |= {"ended": now(), "revision_ended": _revision(graph)}
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written ({error.strerror or error}).") from None
    return manifest


def _write(graph: Graph, folder: Path, table: str, progress: Progress) -> tuple[int, int, list[str]]:
    """Write a table into parts of a bounded size. Return the number of rows, their sum, and the names of the files."""
    import pyarrow.parquet as parquet

    schema = _schema(table)
    rows, part_rows, writer, sum_ = 0, 0, None, 0
    files: list[str] = []
    (folder / table).mkdir()
    # Begin a new part when the last one is full.
    for batch in _batches(graph, table, progress):
        if writer is None:
            files.append(f"{table}/part-{len(files):05}.parquet")
            writer, part_rows = parquet.ParquetWriter(folder / files[-1], schema, compression="zstd"), 0
        writer.write_batch(batch)
        sum_ += _sum(table, batch)
        rows, part_rows = rows + batch.num_rows, part_rows + batch.num_rows
        if part_rows >= PART_ROWS:
            writer.close()
            writer = None
    # An empty table has one part without rows.
    if writer is not None:
        writer.close()
    elif not files:
        files.append(f"{table}/part-00000.parquet")
        parquet.write_table(schema.empty_table(), folder / files[-1])
    return rows, sum_, files


def identity(graph: Graph) -> dict[str, Any]:
    """Return the identity of a brain for a manifest, and the settings on which scores depend."""
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}
    rule = Rule.of(stored)
    return {
        "brain": {name: stored.get(name) for name in ("name", "created", "url_rules")},
        "settings": {name: getattr(rule, name) for name in SCORED},
    }


def _sum(table: str, batch: pyarrow.RecordBatch) -> int:
    """Return the sum of the checksums (CRC-32) of the rows' keys. The key of a link is those of its ends, with a space
    between them."""
    if table not in SUMMED:
        return 0
    columns = [batch.column(name).to_pylist() for name in SUMMED[table]]
    return sum(zlib.crc32(" ".join(keys).encode("utf-8")) for keys in zip(*columns, strict=True))


def needed() -> Any:
    """Return pyarrow. Raise BadInput if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise BadInput("Tables need pyarrow: pip install '.[tables]' in graphbrain's checkout.") from None
    return pyarrow


def _schema(table: str) -> pyarrow.Schema:
    arrow = needed()
    kinds = {
        _TEXT: arrow.string(),
        _WHOLE: arrow.int64(),
        _NUMBER: arrow.float64(),
        _TRUE: arrow.bool_(),
        "time": arrow.timestamp("us", tz="UTC"),
        "times": arrow.list_(arrow.timestamp("us", tz="UTC")),
        "texts": arrow.list_(arrow.string()),
        "wholes": arrow.list_(arrow.int64()),
    }
    return arrow.schema([(name, kinds[kind]) for name, kind in TABLES[table].items()])


def _revision(graph: Graph) -> int:
    stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}
    return int(stored.get("revision", 0))


def _batches(graph: Graph, table: str, progress: Progress) -> Iterator[pyarrow.RecordBatch]:
    """Yield a table in batches of rows."""
    arrow = needed()
    schema = _schema(table)
    for rows in _rows(graph, table, progress):
        columns = [
            arrow.array([_value(row[column], kind) for row in rows], schema.field(column).type)
            for column, kind in enumerate(TABLES[table].values())
        ]
        yield arrow.record_batch(columns, schema)


def _value(value: Any, kind: str) -> Any:
    """Return a property in the form of its column."""
    if value is None:
        return None
    if kind == "time":
        return round(value * 1_000_000)
    if kind in _ITEMS:
        return [_value(each, _ITEMS[kind]) for each in value]
    return masked(value) if kind == _TEXT else float(value) if kind == _NUMBER else value


def _rows(graph: Graph, table: str, progress: Progress) -> Iterator[list[list[Any]]]:
    if table == "hosts":
        after = ""
        while rows := graph.read(bound(_read, "looks/host_rows", after=after, limit=HOSTS), "looks/host_rows"):
            yield [[host.get(name) for name in HOSTS_COLUMNS] for host in rows]
            after = rows[-1]["name"]
        return
    # Pages and links are read by ranges of ids.
    last = graph.read(lambda tx: tx.one("exports/last_id")[0], "exports/last_id")
    total = 0 if last is None else last + 1
    name, step = _OF_RANGE[table], RANGE if table == "pages" else LINK_RANGE
    near = clicks(graph) if table == "pages" and total else None
    soft = frozenset(soft_missing(graph, SOFT_BITS) if table == "pages" and total else ())
    for first in range(0, total, step):
        read = graph.read(bound(_read, name, first=first, last=first + step - 1), name)
        rows = (
            [_page(near, soft, *row) for row in read]
            if near is not None
            else [row for row in read if None not in row[:2]]
        )
        if rows:
            yield rows
        progress(table, min(first + step, total), total)


def _read(tx: Tx, name: str, /, **params: Any) -> list[Any]:
    rows: list[Any] = tx.one(name, **params)[0]
    return rows


def _page(
    near: Clicks,
    soft: frozenset[int],
    page: int,
    key: str,
    stored: dict[str, Any],
    out_links: int,
    in_links: int,
    redirects_to: str | None,
    check: list[Any] | None,
) -> list[Any]:
    """Return a page's row, in the order of PAGES. Of a page outside the scope, `check` is its last check as a link."""
    why = reasons(stored, soft=page in soft)
    broken, *checked = check or (False,)
    # Add the columns that are no property of the page, and the values of missing properties.
    own = {
        "key": key,
        "clicks": near.of(page),
        "failing": broken or stored.get("failed", 0.0) > stored.get("fetched", 0.0),
        "indexability": why[0] if why else INDEXABLE,
        "indexability_also": list(why[1:]),
        **(dict(zip(("status", "fault", "error"), checked, strict=True)) if checked else {}),
        "hinted": stored.get("hinted") or None,
        "is_seed": stored.get("is_seed") is True,
        "authority": stored.get("authority_history", 0.0) + stored.get("authority_cash", 0.0),
        "hub": stored.get("hub_history", 0.0) + stored.get("hub_cash", 0.0),
        "out_links": out_links,
        "in_links": in_links,
        **{name: stored.get(name, 0.0) for name in ("hub_paid", "authority_paid", "out_weight", "in_weight")},
        "visits": stored.get("visits", 0),
        "changes": stored.get("changes", 0),
        "errors": stored.get("errors", 0),
        "redirects_to": redirects_to,
    }
    return [own[name] if name in own else stored.get(name) for name in PAGES]
