"""The opening of a database's brain, and its creation where there is none."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from graphbrain.base.errors import SettingsError
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.settings import Settings, other_than, to_convert
from graphbrain.base.urls.normalization import RULES_VERSION
from graphbrain.brain.session import Session
from graphbrain.content.scope import Scope
from graphbrain.graph import schema
from graphbrain.graph.connection import Clock, Graph, Tx
from graphbrain.schedule.priors import read_priors
from graphbrain.schedule.value import Estimator, Schedule
from graphbrain.scores.accounts import conversion

__all__ = ["changes", "session"]


def session(
    given: Settings,
    *,
    create: bool,
    clock: Clock | None,
    estimator: Estimator | None,
    as_it_is: bool,
) -> Session:
    """Connect to the database and take up its brain; the arguments are those of `Brain.open`."""
    # Check the settings before they are stored in a new brain, which could not be opened again with wrong ones.
    Scope.of_new(given, given.given)
    Schedule.of(given, *read_priors({}), estimator)
    graph = Graph(*_address(given), given.database, given.limit_seconds)
    try:
        graph.connect()
        now = clock or graph.now
        stored = _stored(graph, given, create, now)
        if clock is None:
            graph.time.agree(stored)
        _refuse_other_rules(stored)
        return Session(graph, _fit(given, stored, as_it_is), stored, now, estimator)
    except BaseException:
        graph.close()
        raise


def changes(opened: Session, given: Settings, from_environment: Container[str]) -> dict[str, Any]:
    """Return the shared settings that were given to `open` and become the brain's, because it has no pages yet.

    The settings of a brain with pages change only at an explicit request. Raises SettingsError for other ones.
    """
    unlike = given.unlike(opened.settings)
    if not unlike or given.change_settings:
        return unlike
    if not opened.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
        return unlike
    if refused := given.beyond(opened.settings):
        raise SettingsError(other_than(opened.settings, refused, from_environment))
    return {}


def _address(settings: Settings) -> tuple[str, str, str]:
    """Return URI, user and password: the settings', or those of the local server when no URI is set."""
    if settings.uri:
        return settings.uri, settings.user, settings.password
    from graphbrain.graph.server import lifecycle  # a door: only looked at when no address is given

    running = lifecycle.find()
    if running is None:
        raise SettingsError("No Neo4j is known: start one with 'graphbrain server start', or set GRAPHBRAIN_URI.")
    return running.uri, running.user, running.password


def _stored(graph: Graph, given: Settings, create: bool, clock: Clock) -> Mapping[str, Any]:
    """Return the brain as its database holds it. An empty database is made a brain's first."""
    done, stored, imported = graph.read(_look, "brain/read")
    schema.check(done)
    if imported:
        stored = schema.adopt(graph, clock())
    elif stored is None:
        schema.refuse_foreign(graph)
        if not create:
            raise SettingsError(f"There is no brain at {graph.uri}; run 'graphbrain schema apply' first.")
    if schema.pending(done):
        schema.apply(graph, clock())
    if stored is None:
        conversion.furnish(graph, given.engine)
        fresh = {name: getattr(given, name) for name in Settings.names("fixed", "shared")}
        fresh |= conversion.properties(Rule.of(fresh), clock())
        stored = graph.write(
            lambda tx: tx.one("brain/create", settings=fresh, now=clock(), rules=RULES_VERSION)[0],
            "brain/create",
        )
        if stored["engine"] != given.engine:  # another process has made it, and the indexes may be ours
            conversion.furnish(graph)
    brain: Mapping[str, Any] = stored
    return brain


def _look(tx: Tx) -> tuple[schema.Steps, Mapping[str, Any] | None, bool]:
    """Return the steps that were applied to the database, the brain as it is stored, and whether an import waits to be
    made a brain."""
    done, stored = schema.applied(tx), tx.one("brain/read")[0]
    imported = stored is None and schema.imported(tx)
    if stored is None and not imported:  # another process may have made it a brain between the two looks
        stored = tx.one("brain/read")[0]
    return done, stored, imported


def _refuse_other_rules(stored: Mapping[str, Any]) -> None:
    """Raise SettingsError for a brain whose keys follow other URL rules than today's."""
    if stored["url_rules"] != RULES_VERSION:
        raise SettingsError(
            f"The keys of this brain's pages follow version {stored['url_rules']} of the URL rules, and this "
            f"graphbrain has version {RULES_VERSION}; use the graphbrain that made it, or another database."
        )


def _fit(given: Settings, stored: Mapping[str, Any], any_engine: bool) -> Settings:
    """Return the stored settings where the brain has them. Raise SettingsError where a given one contradicts a fixed
    one (its engine, unless any will do)."""
    for name in Settings.names("fixed"):
        if name in given.given and getattr(given, name) != stored[name]:
            if (name == "crawl" and given.share) or (name == "engine" and any_engine):
                continue
            crawl = f"; name that one (--crawl {stored['crawl']}), or give share=True (GRAPHBRAIN_SHARE=yes)"
            hint = {"crawl": crawl, "engine": f"; {to_convert(given.engine)}"}.get(name, "")
            raise SettingsError(
                f"This brain was made with {name}={stored[name]!r}, not {getattr(given, name)!r}{hint}."
            )
    return given.with_stored(stored)
