"""The findings at an earlier time, in a file of the reader, and their changes since then.

The graph has no earlier counts: a finding counts the present faults. So a reader keeps the counts of a look in a file,
as the console does in the browser. Two readers do not disturb each other, and a look needs no right to write the graph.
Statements: brain/read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.records import Finding
from graphbrain.graph.connection import Graph

__all__ = ["Look", "News"]


@dataclass(frozen=True, slots=True)
class Look:
    """The findings at one time.

    Attributes:
        brain: The identity of the brain.
        at: Epoch seconds.
        findings: The findings.
    """

    brain: Mapping[str, Any]
    at: float
    findings: Sequence[Finding]

    @classmethod
    def now(cls, graph: Graph, at: float, findings: Sequence[Finding]) -> Look:
        """Return a look at this brain with these findings."""
        stored = graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}
        return cls({name: stored.get(name) for name in ("name", "created")}, at, findings)

    @classmethod
    def read(cls, file: Path) -> Look | None:
        """Return the look in a file; None if there is no file. Raise BadInput for another content."""
        try:
            kept = json.loads(file.read_text("utf-8"))
            findings = [Finding(**each) for each in kept["findings"]]
            if not all(isinstance(each.count, int) and isinstance(each.title, str) for each in findings):
                raise TypeError
            return cls(dict(kept["brain"]), float(kept["at"]), findings)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"{file} cannot be read ({error.strerror or error}).") from None
        except (ValueError, LookupError, TypeError):
            raise BadInput(f"{file} keeps no look at findings; name another file for --look.") from None

    def text(self) -> str:
        """Return the content of a file with the look."""
        kept = {"brain": self.brain, "at": self.at, "findings": [each.as_dict() for each in self.findings]}
        return json.dumps(kept, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class News:
    """The findings of a look, compared with those of an earlier one.

    Attributes:
        findings: The findings of the look, then those that are no longer found, with the count 0.
        before: The count of each at the earlier look, by title; None without one.
        since: Epoch seconds of the earlier look; None without one.
    """

    findings: Sequence[Finding]
    before: Mapping[str, int] | None = None
    since: float | None = None

    @classmethod
    def of(cls, look: Look, earlier: Look | None) -> News:
        """Compare two looks. Raise BadInput if they are at different brains."""
        if earlier is None:
            return cls(look.findings)
        if earlier.brain != look.brain:
            raise BadInput(
                f"The last look was at another brain ({earlier.brain.get('name')}); name a file of its own for each "
                "brain with --look."
            )
        titles = {each.title for each in look.findings}
        closed = [
            Finding(each.title, each.what, each.question, each.given, 0, 0.0)
            for each in earlier.findings
            if each.title not in titles
        ]
        return cls([*look.findings, *closed], {each.title: each.count for each in earlier.findings}, earlier.at)

    def count_before(self, finding: Finding) -> int | None:
        """Return the count of a finding at the earlier look, 0 if it was not found; None without an earlier look."""
        return None if self.before is None else self.before.get(finding.title, 0)

    def change(self, finding: Finding) -> str:
        """Return the change of a count since the earlier look in words; empty if there is none."""
        before = self.count_before(finding)
        more = 0 if before is None else finding.count - before
        return f"{more:,} more" if more > 0 else f"{-more:,} fewer" if more < 0 else ""
