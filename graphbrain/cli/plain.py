"""The commands that only pass their arguments to a verb and print its answer. Their operands and options are those that
the verb declares (`graphbrain.base.options.verbs`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import click

from graphbrain.analyst.moving import moving
from graphbrain.base.options.declare import NEEDED
from graphbrain.base.options.verbs import verbs_of
from graphbrain.brain.brain import Brain
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, brain_command
from graphbrain.cli.declared import option, type_of
from graphbrain.terminal import show

__all__ = ["COMMANDS"]

Given = Mapping[str, Any]


def _command(
    name: str,
    text: str,
    operands: Given,
    act: Callable[[Any, Given, bool], int],
    *,
    opened: Given,
    prints: bool,
    note: Callable[[Brain, Given], str] = lambda *_: "",
) -> click.Command:
    """Return the command of the verb of that name.

    Args:
        name: The name of the command.
        text: Its help.
        operands: Argument → its name in the help, of those that are operands under another name, or may be left out.
        act: Called with the answer, the arguments and `--json`; returns the exit code.
        opened: Arguments of `Brain.open`.
        prints: True if it has the option `--json`.
        note: Returns a sentence that follows the answer, on stderr.
    """
    verb = verbs_of(Brain)[name.replace("-", "_")]

    def run(app: App, as_json: bool = False, **arguments: Any) -> int:
        given = {each: value for each, value in arguments.items() if value is not None}
        with app.brain(**opened) as brain:
            code = act(verb.call(brain, given), given, as_json)
            if remark := note(brain, given):
                show.say(f"graphbrain: {remark}.")
        return code

    # The arguments of the verb: operands, or options.
    run.__doc__ = text
    for argument, declared in reversed(verb.arguments.items()):
        needed = declared.default is NEEDED
        if needed or argument in operands:
            shown = operands.get(argument, argument.upper())
            kind = type_of(dataclasses.replace(declared, default=None))
            run = click.argument(argument, metavar=shown, required=needed, type=kind)(run)
        else:
            run = option(declared)(run)
    return brain_command(name)(as_json(run) if prints else run)


def sentence(
    name: str,
    text: str,
    says: Callable[[Any, Given], str],
    /,
    *,
    fails: bool = False,
    opened: Given | None = None,
    **operands: str,
) -> click.Command:
    """Return a command that prints a sentence about the answer. `fails`: it exits 1 if the answer is False."""

    def act(answer: Any, given: Given, _: bool) -> int:
        show.say(f"graphbrain: {says(answer, given)}")
        return int(fails and not answer)

    return _command(name, text, operands, act, opened=opened or {}, prints=False)


def listing(
    name: str,
    text: str,
    table: Callable[[Any, Given], Any],
    /,
    *,
    none: str = "",
    note: Callable[[Brain, Given], str] = lambda *_: "",
    **operands: str,
) -> click.Command:
    """Return a command that prints a table, or JSON lines; `none`: a sentence in place of a table without rows;
    `note`: a sentence that follows."""

    def act(answer: Any, given: Given, as_json: bool) -> int:
        if as_json:
            items = [answer] if isinstance(answer, Mapping) else answer
            show.json_lines(each if isinstance(each, Mapping) else each.as_dict() for each in items)
        elif isinstance(answer, Mapping):
            show.out(table(answer, given))
        elif not show.write(table(answer, given)) and none:
            show.say(f"graphbrain: {none}")
        return 0

    return _command(name, text, operands, act, opened={"auto_tend": False}, prints=True, note=note)


def _asked_for(count: int, _: Given) -> str:
    by = ", by crawlers that claim the kind 'link', as 'graphbrain crawl' does" if count else ""
    return f"{show.counted(count, 'URL')} outside the scope will be checked{by}."


COMMANDS: tuple[click.Command, ...] = (
    sentence(
        "link",
        "Add a link; the accounts are repaired.",
        lambda added, _: "1 link added." if added else "the link was there.",
        source="FROM",
        target="TO",
    ),
    sentence(
        "unlink",
        "Remove a link; the accounts are repaired. Exits 1 when there is none.",
        lambda removed, given: (
            "1 link removed." if removed else f"no link leads from {given['source']} to {given['target']}."
        ),
        fails=True,
        source="FROM",
        target="TO",
    ),
    sentence(
        "resume",
        "Allow claims again, after 'pause'.",
        lambda done, _: "pages can be claimed again." if done else "the brain was not paused.",
        opened={"auto_tend": False, "as_it_is": True},
    ),
    sentence(
        "check-links",
        """Let crawlers fetch the status of links that leave the scope.

        Crawlers that claim the kind 'link' ask each URL by HEAD, or by GET where its host does not allow HEAD. Nothing
        more is fetched of it. 'graphbrain ask broken-links' has those that fail.
        """,
        _asked_for,
    ),
    listing(
        "top",
        """List the N best pages (10 unless given).

        By anything but authority and hub every page is read. A batch score must have been written by 'graphbrain rank';
        pages of which no relevance or value is known are left out.
        """,
        lambda pages, given: sheets.top_table(pages, given["by"]),
        none="no page has a score yet; scores come by links and 'graphbrain tend'.",
        note=lambda brain, given: moving(brain.graph) if given["by"] in ("authority", "hub") else "",
        n="[N]",
    ),
    listing("stats", "Show the crawl in figures.", lambda figures, _: sheets.stats_sheet(figures)),
    listing(
        "sections",
        """Show the sections of a host: what a fetch brings there.

        A section is a part of the host, by the form of its URLs; the sections are learned from visits. HARVEST is
        what a fetch is expected to bring that is new to the host, 0 to 1, FACTOR by how much new pages of the section
        count where the setting 'value' names harvest. All pages of the host are read.
        """,
        lambda sections, _: sheets.sections_table(sections),
        name="HOST",
    ),
)
