"""The opening of a database's brain, and the creation of a brain in an empty database."""

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
    """Connect to the database and return a session on its brain. For the arguments see `Brain.open`."""
    # Check the settings first: a new brain that stored wrong settings could not be opened again.
    Scope.of_new(given, given.given)
    Schedule.of(given, *read_priors({}), estimator).check_patterns()
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
    """Return the shared settings of `open` that the brain must take over.

    A brain without pages takes over all of them, and a brain with pages only with `change_settings`. Raises
    SettingsError for a setting that contradicts a brain with pages.
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
    """Return URI, user and password from the settings; from the local server if no URI is set."""
    if settings.uri:
        return settings.uri, settings.user, settings.password
    from graphbrain.graph.server import lifecycle  # imported only if no address is given

    running = lifecycle.find()
    if running is None:
        raise SettingsError("No Neo4j is known: start one with 'graphbrain server start', or set GRAPHBRAIN_URI.")
    return running.uri, running.user, running.password


def _stored(graph: Graph, given: Settings, create: bool, clock: Clock) -> Mapping[str, Any]:
    """Return the stored properties of the brain. In an empty database a brain is created first."""
    done, stored, imported = graph.read(_look, "brain/read")
    schema.check(done)
    # Without a brain, the database holds an import, foreign data or nothing.
    if imported:
        stored = schema.adopt(graph, clock())
    elif stored is None:
        schema.refuse_foreign(graph)
        if not create:
            raise SettingsError(f"There is no brain at {graph.uri}; run 'graphbrain schema apply' first.")
    # Apply the steps of the schema, and create the brain.
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
        # Another process may have created the brain with another engine, after this one created the indexes.
        if stored["engine"] != given.engine:
            conversion.furnish(graph)
    brain: Mapping[str, Any] = stored
    return brain


def _look(tx: Tx) -> tuple[schema.Steps, Mapping[str, Any] | None, bool]:
    """Return the steps that were applied to the database, the stored properties of its brain (None if there is none),
    and True if the database holds an import without a brain."""
    done, stored = schema.applied(tx), tx.one("brain/read")[0]
    is_import = stored is None and schema.imported(tx)
    # Another process may have created the brain between the two reads.
    if stored is None and not is_import:
        stored = tx.one("brain/read")[0]
    return done, stored, is_import


def _refuse_other_rules(stored: Mapping[str, Any]) -> None:
    """Raise SettingsError for a brain whose keys follow another version of the URL rules."""
    if stored["url_rules"] != RULES_VERSION:
        raise SettingsError(
            f"The keys of this brain's pages follow version {stored['url_rules']} of the URL rules, and this "
            f"graphbrain has version {RULES_VERSION}; use the graphbrain that made it, or another database."
        )


def _fit(given: Settings, stored: Mapping[str, Any], any_engine: bool) -> Settings:
    """Return the given settings, with the stored ones in their place. Raise SettingsError for a given setting that
    contradicts a fixed one of the brain. `any_engine`: the engine may differ."""
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
