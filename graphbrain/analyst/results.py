"""Scores that were computed outside the brain, from one of its dumps: a folder of Parquet files with a manifest.

`graphbrain spark` writes such folders. Scores are by key, so a brain that has changed since the dump can use them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphbrain.analyst import frames
from graphbrain.base.errors import BadInput
from graphbrain.graph.connection import Graph

__all__ = ["VERSION", "Results"]

VERSION = 1
ROWS = 5_000
"""The number of pages that are read at once."""
KINDS = {"rank": "graphbrain rank", "live_pagerank": "graphbrain rank", "settle": "graphbrain settle"}
"""Each kind of results → the command that uses it."""
SAME = ("engine", "alpha", "intra_host_weight", "payout", "target_relevance", "target_hosts")
"""Settings that must be the same as at the dump if accounts are settled from it."""


@dataclass(frozen=True, slots=True)
class Results:
    """Scores in a folder.

    Attributes:
        folder: A path, or an address that pyarrow reads (`hdfs:`, `s3:`; `s3a:` is read as `s3:`).
        manifest: The content of `manifest.json`, which the run wrote at its end.
    """

    folder: str
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, folder: str) -> Results:
        """Read the manifest of a folder.

        Raises:
            BadInput: There is no manifest, it is of another version, or pyarrow is not installed.
        """
        files, path = _place(folder)
        try:
            with files.open_input_stream(f"{path}/manifest.json") as file:
                manifest = json.loads(file.read())
        except OSError:
            raise BadInput(
                f"There is no manifest.json in {folder}: name a folder that 'graphbrain spark' has written to its end."
            ) from None
        except ValueError:
            manifest = None
        if not isinstance(manifest, dict) or manifest.get("version") != VERSION or manifest.get("kind") not in KINDS:
            raise BadInput(f"{folder} has no scores that this version of graphbrain can read; compute them anew.")
        return cls(folder, manifest)

    @property
    def kind(self) -> str:
        return str(self.manifest["kind"])

    def check(self, graph: Graph, kinds: tuple[str, ...]) -> None:
        """Raise BadInput unless the scores are of these kinds, of this brain, and by its present settings."""
        # Check the kind of scores, and the brain that they come from.
        if self.kind not in kinds:
            raise BadInput(f"{self.folder} has scores for '{KINDS[self.kind]} --from', not for '{KINDS[kinds[0]]}'.")
        now = frames.identity(graph)
        if now["brain"] != self.manifest["brain"]:
            theirs = self.manifest["brain"]
            raise BadInput(
                f"The scores in {self.folder} are of another brain ({theirs['name']!r}, made at {theirs['created']}): "
                "dump this one, and compute them anew."
            )
        # Check the settings on which the scores depend.
        matter = ("intra_host_weight",) if self.kind == "live_pagerank" else SAME if self.kind == "settle" else ()
        changed = [name for name in matter if now["settings"][name] != self.manifest["settings"][name]]
        if changed:
            before, after = self.manifest["settings"][changed[0]], now["settings"][changed[0]]
            raise BadInput(
                f"The setting {changed[0]} was {before!r} at the dump of {self.folder} and is {after!r} now: dump the "
                "brain, and compute the scores anew."
            )

    def rows(self) -> Iterator[tuple[list[str], dict[str, Any]]]:
        """Yield the keys of some thousand pages, and for each column the array of their scores.

        Raises:
            BadInput: The files are not those of the manifest.
        """
        from pyarrow import ArrowException, dataset

        # Yield the scores batch by batch.
        files, path = _place(self.folder)
        columns = list(self.manifest["columns"])
        pages = 0
        try:
            scores_files = dataset.dataset(f"{path}/scores", format="parquet", filesystem=files)
            for batch in scores_files.to_batches(columns=["key", *columns], batch_size=ROWS):
                pages += batch.num_rows
                if batch.num_rows:
                    scores = {name: batch[name].to_numpy(zero_copy_only=False) for name in columns}
                    yield batch["key"].to_pylist(), scores
        except (OSError, ArrowException) as error:
            raise BadInput(f"The scores in {self.folder} cannot be read: {str(error).splitlines()[0]}.") from None
        # An incomplete copy of the folder has fewer pages.
        if pages != self.manifest["pages"]:
            raise BadInput(
                f"{self.folder} has scores of {pages:,} pages, not of {self.manifest['pages']:,}: copy it again."
            )


def _place(folder: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path there."""
    try:
        from pyarrow import fs
    except ImportError:
        raise BadInput("Scores from files need pyarrow: pip install '.[tables]' in graphbrain's checkout.") from None
    if "://" not in folder and not folder.startswith("file:"):
        from pathlib import Path

        return fs.LocalFileSystem(), str(Path(folder).absolute())
    address = "s3" + folder[3:] if folder.startswith("s3a:") else folder
    if address.startswith("file:") and not address.startswith("file://"):
        address = "file://" + address[5:]
    try:
        opened: tuple[Any, str] = fs.FileSystem.from_uri(address)
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder} cannot be read: {str(error).splitlines()[0]}.") from None
    return opened[0], opened[1].rstrip("/")
