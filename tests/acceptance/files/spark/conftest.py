"""A cluster for all tests of this folder: each run joins it, for it takes half a minute to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

MASTER = "local-cluster[2,1,1024]"
"""Two executors with a processor and a GB each."""


@pytest.fixture(scope="package", autouse=True)
def _cluster() -> Iterator[None]:
    pytest.importorskip("pyspark", reason="needs the extra 'spark'")
    from graphbrain.files.spark import session

    with session.opened(MASTER, {"spark.sql.shuffle.partitions": "2"}):
        yield
