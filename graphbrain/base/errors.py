"""Every error that graphbrain raises on purpose.

    GraphbrainError
    ├── BadInput            a URL, number, file or argument that cannot be used
    │   ├── NoScore         no page has the named score yet
    │   ├── UnknownHost     no page of the named host is in the graph
    │   └── UnknownPage     the named page is not in the graph
    ├── SettingsError       an unknown or impossible setting, or one that can no longer change
    ├── BeingConverted      the brain is between two engines: its accounts cannot be used now
    ├── SchemaMismatch      the database holds data of another version or of another program
    ├── GraphUnavailable    Neo4j could not be reached, or did not answer, within the time limit
    ├── Cancelled           a question took too long, or its caller no longer waits for the answer
    ├── GraphRefused        Neo4j answered, and refused: wrong password, disk full, read-only
    │   └── GraphTooSmall   it has too little memory for the request
    ├── ServerFailed        the local Neo4j could not be fetched, started or stopped
    ├── ServiceUnavailable  the service could not be reached, or was too busy, within the time limit
    └── ServiceRefused      it refused the request: no valid token, the wrong role, too many requests

Each message has one sentence, or two: what happened and what to do. The command line prints it unchanged and exits with
1. `try_again` is True if the same call can succeed later, unchanged.
"""

from __future__ import annotations

__all__ = [
    "BadInput",
    "BeingConverted",
    "Cancelled",
    "GraphRefused",
    "GraphTooSmall",
    "GraphUnavailable",
    "GraphbrainError",
    "NoScore",
    "SchemaMismatch",
    "ServerFailed",
    "ServiceRefused",
    "ServiceUnavailable",
    "SettingsError",
    "UnknownHost",
    "UnknownPage",
    "UnknownQuestion",
]


class GraphbrainError(Exception):
    """Something went wrong in graphbrain."""

    try_again: bool = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class BadInput(GraphbrainError):
    """The input cannot be used."""


class NoScore(BadInput):
    """No page carries the score yet."""


class UnknownHost(BadInput):
    """No page of the host is in the graph."""


class UnknownPage(BadInput):
    """The page is not in the graph."""


class UnknownQuestion(BadInput):
    """There is no such question."""


class SettingsError(GraphbrainError):
    """A setting is unknown or impossible."""


class BeingConverted(GraphbrainError):
    """The brain is being converted to another engine; wait, or run 'graphbrain engine' again if that was stopped."""

    try_again = True


class SchemaMismatch(GraphbrainError):
    """The database holds data this version of graphbrain cannot work with."""


class GraphUnavailable(GraphbrainError):
    """Neo4j could not be reached within the time limit."""

    try_again = True


class Cancelled(GraphbrainError):
    """The question was cancelled: it took too long, or its caller no longer waits."""


class GraphRefused(GraphbrainError):
    """Neo4j refused the request with an error."""


class GraphTooSmall(GraphRefused):
    """Neo4j has too little memory for what was asked."""


class ServerFailed(GraphbrainError):
    """The local Neo4j server could not be started."""


class ServiceUnavailable(GraphbrainError):
    """The service could not be reached within the time limit."""

    try_again = True


class ServiceRefused(GraphbrainError):
    """The service refused the request with an error."""
