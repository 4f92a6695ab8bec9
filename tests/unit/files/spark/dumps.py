"""Folders as `graphbrain dump tables` writes them, of webs in memory: what Spark reads."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.numeric.arrays import Floats, Ints

__all__ = ["RULE", "generated", "write"]

RULE = {
    "engine": "exact",
    "alpha": 0.15,
    "intra_host_weight": 1.0,
    "payout": "uniform",
    "target_relevance": 0.7,
    "target_hosts": "",
}


def generated(pages: int, links: int, seed: int) -> tuple[Ints, Ints]:
    """Rows of a random web, some of whose pages get most links, and a tenth of whose pages have none."""
    chance = np.random.default_rng(seed)
    sources = chance.integers(0, max(1, pages * 9 // 10), links)
    targets = (pages * chance.random(links) ** 3).astype(np.int64)
    pairs = np.unique(sources * pages + targets)
    offsets = np.searchsorted(pairs, np.arange(pages + 1) * pages)
    return offsets, pairs % pages


def write(
    folder: Path, offsets: Ints, targets: Ints, columns: Mapping[str, Any], hosts: Ints, **settings: Any
) -> Floats:
    """Write a dump; page i has the key `keys[i]`, which are returned. The order of keys is not that of pages."""
    import pyarrow as arrow
    from pyarrow import parquet

    pages = len(offsets) - 1
    order = np.random.default_rng(0).permutation(pages)
    keys = np.array([f"page-{number:08d}" for number in order])
    ends = keys[np.repeat(np.arange(pages), np.diff(offsets))], keys[targets]
    folder.mkdir()
    tables = {
        "pages": arrow.table(
            {
                "key": keys,
                "url": [f"http://h{host}.example/{key}" for host, key in zip(hosts, keys, strict=True)],
                "host": [f"h{host}.example" for host in hosts],
                **{name: arrow.array(column, from_pandas=True) for name, column in columns.items()},
            }
        ),
        "links": arrow.table({"source": ends[0], "target": ends[1]}),
    }
    manifest: dict[str, Any] = {
        "version": 1,
        "begun": 1.0,
        "ended": 2.0,
        "brain": {"name": "test", "created": 1.0, "url_rules": 3},
        "settings": {**RULE, **settings},
        "tables": {},
    }
    for name, table in tables.items():
        (folder / name).mkdir()
        files = []
        for number in range(2):  # as of a larger dump
            half = table.num_rows // 2
            files.append(f"{name}/part-{number:05}.parquet")
            parquet.write_table(table.slice(number * half, half if not number else None), folder / files[-1])
        manifest["tables"][name] = {"rows": table.num_rows, "files": files}
    manifest["sums"] = {
        "pages": sum(zlib.crc32(key.encode()) for key in keys.tolist()),
        "links": sum(zlib.crc32(f"{a} {b}".encode()) for a, b in zip(*ends, strict=True)),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return keys
