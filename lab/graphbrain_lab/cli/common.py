"""The common part of the laboratory's commands: a brain that they may empty, files, and the form of their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.errors import GraphbrainError
from graphbrain.cli.common import App

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__all__ = ["FILE", "emptied", "print_figures", "seed_numbers"]

FILE = click.Path(path_type=Path)


@contextmanager
def emptied(app: App, what: str, yes: bool, **settings: Any) -> Iterator[Brain]:
    """Yield the brain, which `what` may empty: it has no pages, or the user has confirmed with --yes.

    Raises:
        GraphbrainError: The brain has pages, and --yes was not given.
    """
    from graphbrain.terminal import show

    with app.brain(auto_tend=False, as_it_is=True, **settings) as brain:
        if (count := brain.quick_figures()["known_pages"]) and not yes:
            raise GraphbrainError(f"The brain holds {show.counted(count, 'page')}; --yes lets {what} delete them.")
        yield brain


def print_figures(figures: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Print each measure as a line of JSON, or as a table."""
    from graphbrain.terminal import show

    if as_json:
        show.json_lines(figures)
        return
    for one in figures:
        show.out(show.figures_sheet(one))


def seed_numbers(seeds: Sequence[int], count: int | None, default: int, option: str) -> list[int]:
    """Return the seeds that were named, or consecutive seeds from the only one, or from 1.

    Args:
        seeds: The seeds that were named.
        count: The number of consecutive seeds. None: the only seed alone, or `default` seeds from 1.
        default: The number of seeds without any.
        option: The name of the option for `count`.

    Raises:
        click.UsageError: There are a count and several seeds.
    """
    first = list(dict.fromkeys(seeds))
    if len(first) > 1 and count:
        raise click.UsageError(f"{option} counts on from one --seed.")
    if len(first) > 1:
        return first
    begin = first[0] if first else 1
    return list(range(begin, begin + (count or (1 if first else default))))
