"""Files in the format of Common Crawl's web graphs become JSON lines that `import` takes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from graphbrain import Brain
from graphbrain.base.errors import BadInput
from graphbrain.content.wire import report_from_dict
from graphbrain.files import importer
from tests.acceptance.files.spark.conftest import MASTER

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

from graphbrain.files.spark import webgraph  # noqa: E402
from graphbrain.files.spark.runs import On  # noqa: E402

ON = On(MASTER, {"spark.sql.shuffle.partitions": "2"})


def test_the_best_domains_and_their_links(tmp_path: Path) -> None:
    vertices, edges, ranks = (tmp_path / f"{name}.txt.gz" for name in ("vertices", "edges", "ranks"))
    names = ("com.a", "com.b", "org.c", "uk.co.d")
    vertices.write_bytes(gzip.compress("".join(f"{n}\t{name}\t{n + 1}\n" for n, name in enumerate(names)).encode()))
    edges.write_bytes(gzip.compress(b"0\t1\n0\t2\n0\t3\n1\t3\n2\t0\n3\t0\n"))
    head = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\t#n_hosts\n"
    values = (0.4, 0.1, 0.3, 0.2)
    rows = (f"{n + 1}\t{9.5 - n}E3\t{pos}\t{values[n]}\t{names[n]}\t3\n" for n, pos in enumerate((1, 4, 2, 3)))
    ranks.write_bytes(gzip.compress((head + "".join(rows)).encode()))
    out = tmp_path / "out"
    done = webgraph.cut(str(vertices), str(edges), str(ranks), str(out), 3, ON)
    assert done == {"hosts": 3, "linking": 3, "links": 4}
    lines = [line for file in out.glob("part-*.json.gz") for line in gzip.decompress(file.read_bytes()).splitlines()]
    found = {row.url: row for row in (report_from_dict(json.loads(line)) for line in lines)}
    a, c, d = "http://a.com/", "http://c.org/", "http://d.co.uk/"
    assert {url: {link.url for link in row.links} for url, row in found.items()} == {a: {c, d}, c: {a}, d: {a}}
    assert {url: row.value for url, row in found.items()} == pytest.approx({a: 4 / 3, c: 1.0, d: 2 / 3})
    assert {link.url: link.value for link in found[a].links} == pytest.approx({c: 1.0, d: 2 / 3})


def test_hosts_are_imported_with_their_rank(brain: Brain, tmp_path: Path) -> None:
    """A host graph in several files of each kind, and the ranks of hosts, become a settled brain."""
    names = [f"org.h{number % 7}.www{number}" for number in range(60)]
    pairs = sorted({(a, a * b % 60) for a in range(60) for b in (2, 3, 7)} - {(a, a) for a in range(60)})
    for folder in ("vertices", "edges"):
        (tmp_path / folder).mkdir()
    for part in range(2):
        vertices = "".join(f"{n}\t{name}\n" for n, name in enumerate(names) if n % 2 == part)
        edges = "".join(f"{a}\t{b}\n" for a, b in pairs if a % 2 == part)
        (tmp_path / f"vertices/part-{part}.txt.gz").write_bytes(gzip.compress(vertices.encode()))
        (tmp_path / f"edges/part-{part}.txt.gz").write_bytes(gzip.compress(edges.encode()))
    rows = (f"{n + 1}\t{60 - n}\t{n + 1}\t{(60 - n) / 1830}\t{name}\n" for n, name in enumerate(names))
    ranks = tmp_path / "ranks.txt"
    ranks.write_text("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n" + "".join(rows), "utf-8")
    out = tmp_path / "out"
    done = webgraph.cut(f"{tmp_path}/vertices/*.gz", f"{tmp_path}/edges", str(ranks), str(out), None, ON)
    assert done == {"hosts": 60, "linking": len({a for a, _ in pairs}), "links": len(pairs)}
    imported = importer.run(brain, sorted(out.glob("part-*.json.gz")), batches=True)
    assert imported.settled and imported.links == len(pairs) and not imported.refused
    for number in (0, 20, 59):
        found = brain.page(f"http://www{number}.h{number % 7}.org/")
        assert found.value == pytest.approx((60 - number) / 1830 * 60)
    assert not brain.audit(None).findings


def test_other_files_are_refused(tmp_path: Path) -> None:
    vertices, edges = tmp_path / "vertices.txt", tmp_path / "edges.txt"
    vertices.write_text("0\tcom.a\n1\tcom.b\n", "utf-8")
    edges.write_text("0\t1\ncom.a\tcom.b\n", "utf-8")
    with pytest.raises(BadInput, match="a line that is not of Common Crawl's web graphs"):
        webgraph.cut(str(vertices), str(edges), None, str(tmp_path / "out"), None, ON)
    with pytest.raises(BadInput, match="give --ranks with --top"):
        webgraph.cut(str(vertices), str(edges), None, str(tmp_path / "out"), 2, ON)
