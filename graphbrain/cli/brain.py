"""Commands that change a whole brain: its settings, its accounts."""

from __future__ import annotations

import click

from graphbrain.base.errors import BadInput, GraphbrainError, SettingsError
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, brain_command
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


@brain_command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
def clear(app: App, yes: bool) -> None:
    """Delete all pages, links and hosts."""
    with app.brain(auto_tend=False, as_it_is=True) as brain:
        count = brain.quick_figures()["known_pages"]
        if not yes and not click.confirm(f"Delete all {count:,} pages?", err=True):
            raise GraphbrainError("Nothing was deleted; confirm with --yes.")
        brain.clear()
    show.say(f"graphbrain: {show.counted(count, 'page')} deleted.")


@brain_command()
@click.argument("settings", nargs=-1, required=True, metavar="NAME=VALUE|NAME+=MORE...")
def change(app: App, settings: tuple[str, ...]) -> None:
    """Change shared settings, for all who use the brain.

    What follows from them is done for every page, beside whatever else runs, and is taken up again by 'graphbrain
    tend' if it is interrupted. 'change allow_hosts+=other.example' adds a host to those that are there, and
    'deny_urls+=PATTERN' a pattern; with = it takes their place. 'change payout=trusted' pays only seeds, 'change
    intra_host_weight=0.25' lets links inside a host count a quarter.
    """
    from graphbrain.base.settings import added

    given = dict(_assignment(text) for text in settings)
    # The environment may differ from the brain: this command puts that right.
    with app.brain(auto_tend=False, as_it_is=True) as brain, show.bar("changing") as bar:
        for name in [name for name in given if name.endswith("+")]:
            more, plain = given.pop(name), name.removesuffix("+")
            given[plain] = added(plain, getattr(brain.settings, plain, ""), more)
        brain.change(bar, **given)
    assigned = [f"{name}={value}" for name, value in given.items()]
    show.say(f"graphbrain: {', '.join(assigned)} now holds for all.")


@brain_command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--changed", is_flag=True, help="Only those that are not the defaults.")
@as_json
def settings(app: App, names: tuple[str, ...], changed: bool, as_json: bool) -> None:
    """Show the settings in force, and where each comes from.

    A default, the brain (for all who use it), a variable of the environment, an option of the command line, or the
    local server. Nothing is changed.
    """
    from graphbrain.base.settings import Settings, unknown

    for name in names:
        if name not in Settings.names():
            raise SettingsError(unknown(name, Settings.names()))
    with app.brain(create=False, as_it_is=True) as brain:
        given = {name: f"--{name}" if name in app.given else "local server" for name in app.arguments()}
        in_force = brain.settings.in_force(given)
    shown = [each for each in in_force if each.name in (names or (each.name,))]
    sources = [each for each in shown if not (changed and each.source == "default")]
    show.answer(sources, sheets.settings_table, as_json)


def _assignment(text: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE."""
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise BadInput(f"Give NAME=VALUE, not {text!r}.")
    return name, value


@brain_command()
@click.argument("engine", required=False, type=click.Choice(["exact", "classic"]))
@as_json
def engine(app: App, engine: str | None, as_json: bool) -> None:
    """Show how accounts are kept, or change it.

    'exact' keeps them right whenever links change; 'classic' is OPIC-HITS as its authors ran it. All
    accounts begin anew, and reports wait meanwhile; those of 'exact' are settled then. Run it again if
    it was stopped.
    """
    with app.brain(auto_tend=False, create=False, as_it_is=True) as brain:
        changed = False
        if engine is not None:
            with show.bar("converting") as bar:
                changed = brain.convert_engine(engine, bar)
        # The exact engine begins with its accounts at the fixed point.
        if changed and engine == "exact":
            with show.task_bar() as task:
                brain.settle(progress=task)
        now, kept = brain.settings.engine, brain.kept_payout
    show.answer({"engine": now, "changed": changed}, show.sheet([("engine", now)]), as_json)
    # Name what follows, or what was left half done.
    if changed:
        what = "and are settled" if engine == "exact" else "and 'graphbrain tend' moves the cash"
        show.say(f"graphbrain: all accounts have begun anew, {what}.")
    if kept is not None:
        show.say(f"graphbrain: all pages are paid alike; payout={kept} comes back with 'graphbrain engine exact'.")
    if now.startswith("to_"):
        target = now.removeprefix("to_")
        show.say(f"graphbrain: a conversion was stopped; 'graphbrain engine {target}' ends it.")


COMMANDS: tuple[click.Command, ...] = (change, settings, engine, clear)
