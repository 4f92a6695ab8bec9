"""The commands that only pass their arguments to a verb and print its answer. Their operands and options are those that
the verb declares (`graphbrain.base.options.verbs`)."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from graphbrain.base.options.verbs import NEEDED
from graphbrain.brain.brain import VERBS
from graphbrain.cli import sheets
from graphbrain.cli.common import App, Plain, as_json, brain_command
from graphbrain.cli.declared import option, type_of
from graphbrain.terminal import show

__all__ = ["command"]


def command(name: str, plain: Plain) -> click.Command:
    """Return the command of the verb of that name, as the table of commands describes it."""
    verb = VERBS[name.replace("-", "_")]

    # Call the verb, and print its answer as a table or a sentence.
    def run(app: App, as_json: bool = False, **arguments: Any) -> int:
        given = {each: value for each, value in arguments.items() if value is not None}
        with app.brain(**plain.opened) as brain:
            answer = verb.call(brain, given)
            if plain.table:
                show.answer(answer, getattr(sheets, plain.table), as_json)
            else:
                show.say(f"graphbrain: {plain.says(answer, given)}")
        return int(plain.fails and not answer)

    # Give the command an operand for each argument that must be given, and an option for each other.
    run.__doc__ = plain.text
    for argument, declared in reversed(verb.arguments.items()):
        if declared.default is NEEDED:
            shown = plain.operands.get(argument, argument.upper())
            kind = type_of(dataclasses.replace(declared, default=None))
            count = -1 if declared.many else 1
            run = click.argument(argument, metavar=shown, type=kind, nargs=count, required=True)(run)
        else:
            run = option(declared)(run)
    return brain_command(name)(as_json(run) if plain.table else run)
