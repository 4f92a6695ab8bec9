"""The commands about hosts: hosts, host, robots, sections."""

from __future__ import annotations

from typing import Any

import click

from graphbrain.base.errors import BadInput
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, brain_command
from graphbrain.cli.declared import options, or_word
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("text", required=False)
@options("hosts", "blocked", "queued", "slowed", "silent")
@click.option("--outside", is_flag=True, help="Also hosts outside of the scope.")
@options("hosts", "count", "limit", limit="-n")
@as_json
def hosts(app: App, text: str | None, outside: bool, count: int | None, as_json: bool, **which: Any) -> None:
    """List the hosts in scope whose name contains TEXT.

    By name, with how many pages they have, and with what politeness depends on: the delay as it is now, claims out,
    what is used of the budget.
    """
    given: dict[str, Any] = {} if count is None else {"count": count}
    with app.brain(auto_tend=False) as brain:
        fitting = brain.hosts(text, outside=None if outside else False, **given, **which)
        nothing = "no host fits." if outside else "no host in scope fits; see --outside."
        show.answer(fitting, sheets.hosts_table, as_json, f"graphbrain: {nothing}")


@brain_command()
@click.argument("name")
@options("set_host", "delay", "in_flight", "budget")
@click.option("--block", metavar="SECONDS|for-ever", type=or_word(float, "for-ever"), help="No claims for so long.")
@click.option("--unblock", is_flag=True, help="Ask it again, at its full rate.")
@as_json
def host(app: App, name: str, block: float | str | None, unblock: bool, as_json: bool, **own: Any) -> None:
    """Show a host, or set how all workers treat it.

    Without options it shows what is known of it. 'none' goes back to the brain's setting. What is set of a host before
    its first page holds from that on.
    """
    if unblock and block is not None:
        raise click.UsageError("Give either --block or --unblock, not both.")
    # Set what is given, then show the host.
    given = {what: None if value == "none" else value for what, value in own.items() if value is not None}
    with app.brain(auto_tend=False) as brain:
        if given:
            brain.set_host(name, **given)
        if block is not None:
            brain.block(name, None if isinstance(block, str) else block)
        if unblock:
            brain.unblock(name)
        shown_host = brain.host(name)
    if (given or block is not None) and not shown_host.pages:
        show.say(f"graphbrain: no page of {shown_host.name} is known yet; this holds from its first one on.")
    resources = [sheets.resources_table(shown_host.resources)] if shown_host.resources else []
    show.answer(shown_host, [sheets.host_sheet(shown_host), *resources], as_json)


@brain_command()
@click.argument("name", metavar="HOST")
@click.argument("file", required=False, metavar="[FILE|-]", type=click.File("rb"))
@click.option("--agent", metavar="NAME", help="Whose rules hold, instead of the setting user_agent.")
@click.option("--remove", is_flag=True, help="It has none: all may be fetched.")
@as_json
def robots(app: App, name: str, file: Any, agent: str | None, remove: bool, as_json: bool) -> int:
    """Obey a host's robots.txt.

    HOST is a name, for both http and https, or an origin, https://a.example, for one of them. FILE is what it
    answered, '-' is stdin. Without it, the text that was set is printed. Pages that it forbids are taken out, those of
    them that it allows come back, and its Crawl-delay holds.
    """
    if remove and (file is not None or agent is not None):
        raise click.UsageError("--remove takes neither a file nor an agent.")
    if file is None and agent is not None:
        raise click.UsageError("Give the file that --agent is to be looked up in.")
    with app.brain(auto_tend=False) as brain:
        # Without a file and --remove, print what is set.
        if file is None and not remove:
            text = brain.robots(name)
            if as_json:
                show.json_lines([{"robots": text}])
            elif text is None:
                show.say(f"graphbrain: no robots.txt was set for {name}.")
            else:
                click.echo(text)
            return 0
        if remove and brain.robots(name) is None:
            raise BadInput(f"No robots.txt was set for {name}.")
        done = brain.set_robots(name, None if remove else file.read(), agent=agent)
    pairs = [("Crawl-delay", done.delay or None), ("taken out", done.taken_out), ("let in", done.let_in)]
    show.answer(done, show.sheet(pairs), as_json)
    return 0


COMMANDS = (hosts, host, robots)
