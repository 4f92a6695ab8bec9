"""The commands of the service: serve, console, token."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from graphbrain.cli import sheets
from graphbrain.cli.common import App, Duration, Number, as_json, brain_command, needing
from graphbrain.terminal import show

__all__ = ["COMMANDS"]

PACKAGES = ("fastapi", "starlette", "uvicorn", "httptools", "pydantic", "prometheus_client")
SAY_AFTER = 2.0
"""Seconds of waiting after which a start prints what it waits for."""
RUN_SECONDS = 12 * 3_600.0
"""The longest time for which the token of a console of one's own lasts."""
PATIENCE = 20.0
"""Seconds for which a request waits for Neo4j, unless GRAPHBRAIN_LIMIT_SECONDS is set."""


@brain_command()
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Listen here (127.0.0.1: this machine alone).")
@click.option("--port", type=click.IntRange(0, 65535), default=8770, help="Its port (8770); 0 takes a free one.")
@click.option("--cert", type=click.Path(path_type=Path), help="A certificate for TLS, with its chain, as PEM.")
@click.option("--key", type=click.Path(path_type=Path), help="Its private key.")
@click.option("--without-tls", is_flag=True, help="Let other machines in without TLS: behind a proxy that does it.")
@click.option("--without-token", is_flag=True, help="Give every user of this machine all rights.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A name it is called by; repeatable.")
@click.option("--cors", "origins", multiple=True, metavar="ORIGIN", help="Pages from there may use it; repeatable.")
@click.option("--rate", type=Number(0), default=200.0, help="Requests of one token a second (200); 0 is no limit.")
@click.option("--items", type=click.IntRange(1, 10_000), default=1_000, help="Most items of one request (1000).")
@click.option("--body", type=click.IntRange(1, 1_024), default=16, metavar="MB", help="Largest body (16).")
@click.option("--longest-wait", type=Number(0, 3_600), default=60.0, help="Most seconds of a long poll (60).")
@click.option("--quiet", is_flag=True, help="No line on stderr for each request.")
def serve(app: App, /, quiet: bool, **options: Any) -> None:
    """Serve the brain over HTTP to crawlers and analysts.

    They send a token, which 'graphbrain token make' makes. /openapi.json describes the verbs. Ctrl-C, or SIGTERM,
    stops it: what is in flight is answered.
    """
    service = _service()
    # Check address, limits and terms before the brain is opened.
    address = service.ListenAddress(
        options["host"], options["port"], options["cert"], options["key"], without_tls=options["without_tls"]
    ).checked(options["without_token"])
    limits = service.Limits(
        rate=options["rate"],
        items=options["items"],
        body=options["body"] * 2**20,
        wait=options["longest_wait"],
    )
    terms = service.Terms(limits, options["names"], options["origins"], options["without_token"], app.data).checked()
    logging.getLogger("graphbrain.service").setLevel(logging.WARNING if quiet else logging.INFO)
    with _brain(app) as brain:

        def started(where: str) -> None:
            who = "without a token" if terms.without_token else "with a token ('graphbrain token make')"
            show.say(f"graphbrain: serving {brain.settings.crawl!r} on {where}, {who}; Ctrl-C stops it.")

        service.serve(brain, address, terms, say=show.say, on_start=started)


@brain_command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Its port (any that is free).")
@click.option(
    "--role",
    type=click.Choice(["analyst", "operator"]),
    default="operator",
    help="analyst looks, operator may act too.",
)
@click.option("--no-browser", is_flag=True, help="Print the address alone; open no browser.")
@click.option("--until-eof", is_flag=True, help="End when the standard input ends, too.")
def console(app: App, port: int, role: str, no_browser: bool, until_eof: bool) -> None:
    """Show the crawl in a browser on this machine, until Ctrl-C.

    The page is served on loopback alone. The address has a token that was made for this run: it ends with it, and after
    12 hours at the latest. Others look at /console of 'graphbrain serve'.
    """
    import secrets
    import webbrowser

    service = _service()
    from graphbrain.service import access

    name = f"console-{secrets.token_hex(4)}"
    with _brain(app) as brain:
        # A token for this run alone, which is revoked at its end.
        token = access.make(brain.graph, name, role, brain.now(), RUN_SECONDS)  # type: ignore[arg-type]

        def started(where: str) -> None:
            address = f"{where}/console#token={token}"
            show.out(address)
            sys.stdout.flush()
            show.say(f"graphbrain: the console of {brain.settings.crawl!r}, for this machine alone; Ctrl-C ends it.")
            if not no_browser:
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            if until_eof:
                threading.Thread(target=_end_with_input, daemon=True).start()

        try:
            service.serve(
                brain, service.ListenAddress(port=port), service.Terms(data=app.data), say=show.say, on_start=started
            )
        finally:
            access.revoke(brain.graph, name, brain.now())


def _end_with_input() -> None:
    """Interrupt this process when its standard input ends."""
    while sys.stdin.buffer.read(1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


@contextlib.contextmanager
def _brain(app: App) -> Iterator[Any]:
    """The brain that is served. A line on stderr names what is waited for, where it takes long."""
    patience = None if os.environ.get("GRAPHBRAIN_LIMIT_SECONDS") else PATIENCE
    what = app.given.get("uri") or os.environ.get("GRAPHBRAIN_URI") or "the local Neo4j"
    words = f"graphbrain: waiting for {what} to answer; Ctrl-C gives up."
    timer = threading.Timer(SAY_AFTER, show.say, [words])
    timer.daemon = True
    timer.start()
    with contextlib.ExitStack() as stack:
        try:
            brain = stack.enter_context(app.brain(limit_seconds=patience))
        finally:
            timer.cancel()
        yield brain


def _service() -> Any:
    """Return the module that serves, and begin its log. Raise GraphbrainError, with how to install it, where a package
    is missing."""
    with needing("The service", "serve", *PACKAGES):
        from graphbrain.service import serve as service
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s")
    return service


@click.group("token")
def token_group() -> None:
    """Make, list and revoke the tokens of the service."""


@brain_command("make", token_group)
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["crawler", "analyst", "operator"]),
    required=True,
    help="A crawler claims and reports, an analyst reads, an operator may do everything.",
)
@click.option("--expires", type=Duration(1), metavar="TIME", help="Ends after so long, as in 12h or 90d (never).")
@as_json
def token_make(app: App, name: str, role: str, expires: float | None, as_json: bool) -> None:
    """Make a token; it is printed this once.

    NAME appears in the service's log and is the worker of the claims. The token itself is kept nowhere: the brain has
    its SHA-256 digest.
    """
    from graphbrain.service import access

    with app.brain(auto_tend=False, as_it_is=True) as brain:
        token = access.make(brain.graph, name, role, brain.now(), expires)  # type: ignore[arg-type]
    show.answer({"name": name, "role": role, "token": token}, token, as_json)
    show.say(f"graphbrain: the {role} {name} has this token; it is not shown again.")


@brain_command("list", token_group)
@as_json
def token_list(app: App, as_json: bool) -> None:
    """List the tokens: names, roles, states and times, without the secrets."""
    from graphbrain.service import access

    with app.brain(auto_tend=False, as_it_is=True) as brain:
        grants, now = access.grants(brain.graph), brain.now()
    # A revoked token ends when it was revoked, any other when it expires.
    rows = (
        (
            grant.name,
            grant.role,
            "good" if grant.good(now) else "expired" if grant.revoked is None else "revoked",
            sheets.moment_cell(grant.made),
            sheets.moment_cell(grant.expires if grant.revoked is None else grant.revoked),
        )
        for grant in grants
    )
    show.answer(
        ({**grant.as_dict(), "good": grant.good(now)} for grant in grants),
        show.rows_table(("name", "role", "state", "made", "ends"), rows, ("made",)),
        as_json,
        nothing="graphbrain: there are no tokens; 'graphbrain token make' makes one.",
    )


@brain_command("revoke", token_group)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def token_revoke(app: App, names: tuple[str, ...]) -> int:
    """End tokens for good.

    Services that run take it up within seconds. Exits 1 where all were revoked before.
    """
    from graphbrain.service import access

    with app.brain(auto_tend=False, as_it_is=True) as brain:
        fresh = [access.revoke(brain.graph, name, brain.now()) for name in names]
    show.say(f"graphbrain: {show.counted(sum(fresh), 'token')} revoked.")
    return 0 if any(fresh) else 1


COMMANDS: tuple[click.Command, ...] = (serve, console, token_group)
