"""Questions, findings and the summary, for programs.

The modules that these need are imported at first use: a crawler that asks nothing does not load them.
"""

from __future__ import annotations

from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.model import number
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.options.verbs import READERS, verb
from graphbrain.base.records import Asked, Finding
from graphbrain.brain.look import Looking

__all__ = ["Asking"]


class Asking(Looking):
    """The verbs that read the crawl for analysts. They change nothing."""

    @verb(READERS, "questions", reads=True)
    def questions(self) -> list[dict[str, Any]]:
        """Return all questions that `ask` answers: name, group, title, reading, cost and parameters of each."""
        from graphbrain.analyst import questions

        return [each.as_dict() for each in questions.questions()]

    @verb(READERS, "", reads=True)
    def ask(self, name: str, /, **parameters: Any) -> Asked:
        """Answer a question. The transactions that read for it cannot write.

        Args:
            name: The name of the question.
            parameters: Its parameters. `limit` may be 'all'; a `url` may be a page's key, too.

        Raises:
            BadInput: There is no such question or parameter.
            UnknownPage: The page is not in the graph.
            UnknownHost: The host is not in the graph.
        """
        from graphbrain.analyst import questions

        questions.question(name).values(parameters)
        if parameters.get("url"):
            parameters["url"] = super().page(parameters["url"]).url  # super(): the timing of `page` does not count it
        if parameters.get("host"):
            parameters["host"] = self._names.known_host(parameters["host"])
        return questions.ask(self._session.graph, name, **parameters)

    @verb(READERS, "findings", reads=True)
    def findings(self) -> list[Finding]:
        """Return the faults of pages and links, the most wasteful first. Reads every page."""
        from graphbrain.analyst import findings

        return findings.findings(self._session.graph)

    @verb(READERS, "", reads=True, since={"bounds": Bounds(0, LARGEST)})
    def summary(self, since: float | None = None) -> str:
        """Return a summary of the crawl as one HTML file without other files. Reads every page and link.

        Args:
            since: Epoch seconds, a week ago by default. The page reports what is new, changed or gone from then on.

        Raises:
            BadInput: `since` is no time, or in the future.
        """
        from graphbrain.analyst import summary

        now = self._session.now()
        if since is not None and not (number(since) and since <= now):
            raise BadInput(f"since must be epoch seconds that are not in the future, not {since!r:.80}.")
        return summary.page(self._session.graph, now, since)
