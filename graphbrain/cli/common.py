"""The common part of all commands: how to reach the brain, `--json`, and the trace.

The connection options are accepted by `graphbrain` itself and by every command, and mean the same in both places. Only
the given ones are passed on: `Settings` reads the environment itself.
"""

from __future__ import annotations

import gc
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from graphbrain.base.errors import BadInput, GraphbrainError, GraphUnavailable

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__all__ = [
    "AddressOption",
    "App",
    "Day",
    "Duration",
    "F",
    "Number",
    "Plain",
    "Size",
    "as_json",
    "brain_command",
    "connection",
    "needing",
    "number_or_none",
    "pass_app",
]

SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class App:
    """One run of the command line: the connection options that were given."""

    given: dict[str, Any] = field(default_factory=dict)
    data: Path | None = None
    trace: bool = False

    def arguments(self) -> dict[str, Any]:
        """Return the connection as arguments of `Brain.open`; the local server's if no address is given. Raise
        GraphUnavailable, with what to do, when no server runs there."""
        if self.data is not None and "uri" in self.given:
            raise click.UsageError("Give either --uri or --data, not both.")
        if self.data is None and (self.given.get("uri") or os.environ.get("GRAPHBRAIN_URI")):
            return dict(self.given)
        from graphbrain.graph.server import lifecycle

        server = lifecycle.find(self.data)
        if server is None:
            raise GraphUnavailable(
                f"No Neo4j runs in {self.data or lifecycle.default_data_dir()}: start one with "
                "'graphbrain server start', or name another with GRAPHBRAIN_URI."
            )
        local = {"uri": server.uri, "user": server.user, "password": server.password}
        return {**local, **self.given}

    @contextmanager
    def brain(self, **settings: Any) -> Iterator[Brain]:
        """The brain, open until the end of the block; a setting that is None is not given."""
        from graphbrain.brain.brain import Brain

        with Brain.open(**self.arguments(), **settings) as brain, self._tracing(brain):
            # The imported modules stay: a search for garbage among them takes some 30 ms, each time amid a claim.
            gc.freeze()
            yield brain

    def _tracing(self, brain: Brain) -> Any:
        """The place where --trace is wired: each statement's name, rows and milliseconds."""
        if not self.trace:
            return nullcontext()
        return brain.graph.trace(lambda name, rows, ms: click.echo(f"{ms:9.1f} ms {rows:7} rows  {name}", err=True))


pass_app = click.make_pass_decorator(App, ensure=True)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Note a connection option; one on the command goes over the same one on the group."""
    app = ctx.find_root().ensure_object(App)
    if value is None or value is False:
        return
    if param.name in ("data", "trace"):
        setattr(app, str(param.name), value)
    else:
        app.given[str(param.name)] = value


def _option(*names: str, **attributes: Any) -> Callable[[F], F]:
    return click.option(*names, callback=_keep, expose_value=False, **attributes)


_OPTIONS = (
    _option("--uri", metavar="URI", help="Neo4j's address (GRAPHBRAIN_URI)."),
    _option("--user", metavar="NAME", help="Neo4j's user (GRAPHBRAIN_USER)."),
    _option("--password", metavar="TEXT", help="Its password; better by GRAPHBRAIN_PASSWORD."),
    _option("--database", metavar="NAME", help="Neo4j's database (GRAPHBRAIN_DATABASE)."),
    _option("--crawl", metavar="NAME", help="The crawl's name (GRAPHBRAIN_CRAWL)."),
    _option(
        "--data",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        help="The local server's directory (GRAPHBRAIN_DATA).",
    ),
    _option("-v", "--trace", is_flag=True, help="Show each statement's time and rows on stderr."),
)


def connection(command: F) -> F:
    """Give a command the options that name the brain."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def needing(what: str, extra: str, *packages: str) -> Iterator[None]:
    """Import packages of an extra within the block. If one of them is missing, raise GraphbrainError with the command
    that installs the extra, or the first package where the extra is not known."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        from graphbrain.base.runtime import installs

        raise GraphbrainError(f"{what} needs more: {installs.command(extra, packages[0])}") from None


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")


class Number(click.FloatRange):
    """A number in a range; neither `nan` nor `inf` is one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        read = float(super().convert(value, param, ctx))
        if not math.isfinite(read):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return read


class Duration(Number):
    """Seconds, or a number with its unit: 90s, 30m, 1h, 2d."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        matched = re.fullmatch(r"(\d*\.?\d+)\s*([smhd]?)", str(value).strip().lower())
        if not matched:
            self.fail(f"{value!r} is no time; give one as in 90s, 30m, 1h or 2d.", param, ctx)
        return super().convert(float(matched[1]) * UNITS[matched[2]], param, ctx)


class Size(click.IntRange):
    """Bytes, or a number with its unit: 500M, 10G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        matched = re.fullmatch(r"(\d*\.?\d+)\s*([kmgt]?)b?", str(value).strip().lower())
        if not matched:
            self.fail(f"{value!r} is no size; give one as in 500M or 10G.", param, ctx)
        return int(super().convert(int(float(matched[1]) * SIZES[matched[2]]), param, ctx))


class Day(click.ParamType):  # type: ignore[type-arg]
    """A day, from whose beginning on (UTC) changes are reported."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC)
        except ValueError:
            self.fail(f"{value!r} is no day; give a day such as 2026-11-01.", param, ctx)


class AddressOption(click.ParamType):  # type: ignore[type-arg]
    """A port, or a host and a port: 9464, 0.0.0.0:9464, [::1]:9464. Without a host it is this machine alone."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        matched = re.fullmatch(r"(?:(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/@]+):)?(\d{1,5})", str(value).strip())
        if not matched or int(matched[2]) > 65_535:
            self.fail(f"{value!r} is no port; give one as in 9464 or 0.0.0.0:9464.", param, ctx)
        return (matched[1] or "127.0.0.1").strip("[]"), int(matched[2])


def brain_command(name: str | None = None, group: click.Group | None = None) -> Callable[[F], click.Command]:
    """Return the decorator of a command, or of one of a group. Its help lists its own options first, and those of the
    connection last. The function gets the App first."""
    command = click.command if group is None else group.command

    def wrap(function: F) -> click.Command:
        own = function.__dict__.pop("__click_params__", [])
        whole = connection(pass_app(function))
        whole.__dict__["__click_params__"] += own
        return command(name)(whole)

    return wrap


@dataclass(frozen=True)
class Plain:
    """A command that passes its arguments to the verb of its name, and prints the answer.

    Attributes:
        text: Its help.
        says: Returns a sentence about the answer and the arguments.
        table: The function of `sheets` that lays the answer out, in place of a sentence; then it has `--json`, too.
        fails: True if it exits 1 where the answer is False.
        opened: Arguments of `Brain.open`.
        operands: Argument → its name in the help, where it is another.
    """

    text: str
    says: Callable[[Any, Mapping[str, Any]], str] = lambda *_: ""
    table: str = ""
    fails: bool = False
    opened: Mapping[str, Any] = field(default_factory=dict)
    operands: Mapping[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first paragraph of its help."""
        return self.text.partition("\n\n")[0]


def number_or_none(text: str) -> float | None:
    """A number, or None for the word 'none'."""
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"Give a number or 'none', not {text!r}.") from None
