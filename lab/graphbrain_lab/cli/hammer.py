"""`graphbrain hammer`: processes that crawl one brain are killed again and again, and nothing may be lost."""

from __future__ import annotations

from typing import Any

import click

from graphbrain.cli.common import App, Number, as_json, connection, pass_app
from graphbrain_lab.cli.common import emptied

__all__ = ["COMMANDS"]


@click.command()
@click.option("--minutes", type=Number(0), default=2.0, help="How long (2).")
@click.option("--processes", type=click.IntRange(1), default=4, help="Processes that crawl (4).")
@click.option("--pages", type=click.IntRange(10), default=5_000, help="Pages of the web (5000).")
@click.option("--kill-every", type=Number(0.1), default=3.0, help="Seconds between kills (3).")
@click.option("--delay", type=Number(0), default=0.0, help="Seconds between two claims of a host (0).")
@click.option("--engine", type=click.Choice(["exact", "classic"]), default="exact", help="Whose accounts (exact).")
@click.option("--reach", type=Number(0), default=0.0, help="As the setting (0).")
@click.option("--value", help="As the setting; the pages bring texts then.")
@click.option("--strike-server", is_flag=True, help="Kill the local server, too, half way.")
@click.option("--yes", is_flag=True, help="Empty the brain without asking.")
@as_json
@connection
@pass_app
def hammer(app: App, /, minutes: float, strike_server: bool, yes: bool, as_json: bool, **options: Any) -> int:
    """Try to lose a claim or a coin, and prove that none was.

    Processes crawl a generated web on one brain and are killed again and again. It needs a brain of its own, and
    empties it. Exits 1 when anything was found.
    """
    from graphbrain.cli import sheets
    from graphbrain.terminal import show
    from graphbrain_lab.bench import chaos

    with emptied(app, "the hammer", yes) as brain:
        brain.clear()
        connect = {name: getattr(brain.graph, name) for name in ("uri", "user", "password", "database")}
    blow = chaos.kill_local_server(app.data) if strike_server else None
    verdict = chaos.hammer(connect, seconds=minutes * 60, strike_server=blow, say=show.say, **options)
    if as_json:
        show.json_lines([{"ok": verdict.ok, "findings": verdict.findings, **verdict.figures}])
    else:
        words = "Nothing was lost or doubled." if verdict.ok else "SOMETHING WAS LOST OR DOUBLED."
        show.out(*sheets.findings_sheet(verdict.figures, verdict.findings, words))
    return 0 if verdict.ok else 1


COMMANDS = (hammer,)
