"""The options of how a dump is written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphbrain.base.options.declare import declared

__all__ = ["LinkFile", "PageFile"]


def _format(*words: str) -> Any:
    return declared(None, "By default that of FILE's ending; jsonl on stdout", words=words)


@dataclass(frozen=True, slots=True)
class PageFile:
    """The format of a dump of pages, its columns, and the form of its times; None: as the format has them."""

    format: str | None = _format("jsonl", "csv", "nodes")
    columns: str | None = declared(None, "Which, in which order. Unless given there are few", metavar="A,B,…|all")
    raw: bool | None = declared(None, "Times as epoch seconds, or as dates (ISO 8601, UTC)", off="dates")


@dataclass(frozen=True, slots=True)
class LinkFile(PageFile):
    """The same for a dump of links."""

    format: str | None = _format("jsonl", "csv", "edges")
