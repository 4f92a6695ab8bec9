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
from graphbrain.brain.names import Names
from graphbrain.brain.session import Session

__all__ = ["Analysing", "Asking"]


class Analysing:
    """The verbs that read the crawl for analysts. They change nothing."""

    def __init__(self, session: Session, looking: Looking, names: Names) -> None:
        self._session, self._looking, self._names = session, looking, names

    def questions(self) -> list[dict[str, Any]]:
        """Return all questions, as `Brain.questions` describes."""
        from graphbrain.analyst import questions

        return [each.as_dict() for each in questions.questions()]

    def ask(self, name: str, given: dict[str, Any]) -> Asked:
        """Return an answer, as `Brain.ask` describes."""
        from graphbrain.analyst import questions

        questions.question(name).values(given)
        if given.get("url"):
            given = {**given, "url": self._looking.page(given["url"]).url}
        if given.get("host"):
            given = {**given, "host": self._names.known_host(given["host"])}
        return questions.ask(self._session.graph, name, **given)

    def findings(self) -> list[Finding]:
        """Return the findings, as `Brain.findings` describes."""
        from graphbrain.analyst import findings

        return findings.findings(self._session.graph)

    def summary(self, since: float | None) -> str:
        """Return the summary, as `Brain.summary` describes."""
        from graphbrain.analyst import summary

        now = self._session.now()
        if since is not None and not (number(since) and since <= now):
            raise BadInput(f"since must be epoch seconds that are not in the future, not {since!r:.80}.")
        return summary.page(self._session.graph, now, since)


class Asking:
    """The verbs of analysts, which `Brain` has beside its own."""

    _analysing: Analysing

    @verb(READERS, "questions", reads=True)
    def questions(self) -> list[dict[str, Any]]:
        """Return all questions that `ask` answers: name, group, title, reading, cost and parameters of each."""
        return self._analysing.questions()

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
        return self._analysing.ask(name, parameters)

    @verb(READERS, "findings", reads=True)
    def findings(self) -> list[Finding]:
        """Return the faults of pages and links, the most wasteful first. Reads every page."""
        return self._analysing.findings()

    @verb(READERS, "", reads=True, since={"bounds": Bounds(0, LARGEST)})
    def summary(self, since: float | None = None) -> str:
        """Return the crawl on one page, as HTML that needs nothing else. Reads every page and link.

        Args:
            since: Epoch seconds, a week ago by default. The page reports what is new, changed or gone from then on.

        Raises:
            BadInput: `since` is no time, or in the future.
        """
        return self._analysing.summary(since)
