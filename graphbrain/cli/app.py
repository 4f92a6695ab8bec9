"""`graphbrain` on the command line: the verbs of the Python client, and what runs around them.

Results go to stdout: a table for a person, JSON lines with `--json`. Talk and progress go to
stderr. Whatever goes wrong on purpose is a GraphbrainError and is caught here, once: one sentence
on stderr, exit 1. Exit 2 is a wrong command line, 130 an interruption. The module of a command is
imported when the command is used (`cli.commands`); the driver, numpy and rich, when they are needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, cast

import click

from graphbrain import __version__
from graphbrain.base.errors import GraphbrainError
from graphbrain.base.runtime.lean_driver import lean_driver
from graphbrain.cli.commands import LABORATORY, SECTIONS, CommandsOnUse
from graphbrain.cli.common import connection

__all__ = ["cli", "main"]


class _InSections(click.Group):
    """Lists its commands in sections, in the order of use, which is the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name.

        Raises:
            click.UsageError: It is the laboratory's, which is not installed.
        """
        if cmd_name in LABORATORY and cmd_name not in self.commands:
            raise click.UsageError(
                f"'{cmd_name}' is a command of the laboratory, which is not installed: run 'pip install ./lab' in "
                "graphbrain's checkout.",
                ctx,
            )
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write a list of commands for each section, all with one width of the first column."""
        widest = max(map(len, self.commands))
        for title, entries in SECTIONS.items():
            rows = [
                (name.ljust(widest), _in_short(entry.summary, formatter.width - 6 - widest))
                for name, entry in entries.items()
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


def _in_short(summary: str, width: int) -> str:
    """Return the summary of a command, cut as click cuts it in every list of commands."""
    return click.Command(None, help=summary).get_short_help_str(width)


@click.group(
    cls=_InSections,
    commands=CommandsOnUse({name: entry for entries in SECTIONS.values() for name, entry in entries.items()}),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="graphbrain %(version)s", help="Print the version and exit.")
@connection
def cli() -> None:
    """The brain of a web crawler, kept in a Neo4j graph.

    Without --uri it works on the local server that 'graphbrain server start' runs. Every setting
    has an environment variable, GRAPHBRAIN_ and its name in capitals.
    """


class _Unwritten(Exception):
    """Raised when stdout takes no more."""


class _Results:
    """A wrapper of stdout, whose errors are distinguished from all others."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        with _marked():
            return self._out.write(text)

    def flush(self) -> None:
        with _marked():
            self._out.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


@contextmanager
def _marked() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _Unwritten(error.strerror or str(error)) from None


@contextmanager
def _results() -> Iterator[None]:
    """Within the block stdout is a `_Results`, even if the process was started without a stdout, and a closed stdin is
    empty."""
    before = sys.stdout
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123  # as long as the process
    # It is opened for reading, so that writing fails as it does if a shell has closed stdout.
    out = before or os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    sys.stdout = cast(TextIO, _Results(out))
    try:
        yield
    except (BrokenPipeError, _Unwritten, SystemExit) as error:
        # A SystemExit may be that of Click, which ends the program if its own output meets a closed pipe.
        if not isinstance(error, SystemExit) or _is_closed(out):
            # What is still to be written would be tried again at the exit, and fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        raise
    finally:
        sys.stdout = before


def _is_closed(out: TextIO) -> bool:
    """True where the rest of the output can no longer be written."""
    try:
        out.flush()
    except OSError:
        return True
    return False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    lean_driver()
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command, and write all of its output. Return the exit code."""
    try:
        with _results():
            code = _obey(arguments)
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        return 1  # The reader of our output has gone (`| head`): as click does, print nothing.
    except _Unwritten as error:
        print(f"graphbrain: stdout cannot be written ({error}); make room, or send it elsewhere.", file=sys.stderr)
        return 1


def _obey(arguments: Sequence[str] | None) -> int:
    """Run the command that was given. Return the exit code."""
    try:
        # Click raises its errors instead of printing them, because some of them are printed otherwise here.
        code = cli.main(
            list(arguments) if arguments is not None else None,
            prog_name="graphbrain",
            standalone_mode=False,
        )
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("graphbrain: interrupted.", file=sys.stderr)
        return 130
    except GraphbrainError as error:
        print(f"graphbrain: {error}", file=sys.stderr)
        return 1
