"""The command of batch scores: rank."""

from __future__ import annotations

from typing import Any

import click

from graphbrain.cli.common import App, as_json, brain_command
from graphbrain.methods import METHODS

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("method", metavar="[METHOD]", type=click.Choice(list(METHODS)), required=False)
@click.option("--damping", type=float, help="Share of readers who follow a link (.85).")
@click.option("--tolerance", type=float, help="Error of all scores together that will do (1e-9).")
@click.option("--iterations", type=click.IntRange(1), help="At most so many (10000).")
@click.option("--only-external", is_flag=True, help="Leave out links inside a host.")
@click.option("--content", is_flag=True, help="Weigh authorities by their relevance (hits).")
@click.option("--trust", "trusted", multiple=True, metavar="URL", help="A trusted page, instead of the seeds.")
@click.option("--top", type=click.IntRange(0, 1_000_000), help="How many of the best are listed (10).")
@click.option("--no-write", is_flag=True, help="Leave the pages as they are.")
@as_json
def rank(app: App, method: str | None, no_write: bool, as_json: bool, **options: Any) -> int:
    """Score all pages at once, and write the scores to them.

    \b
    METHOD        scores                                  properties
    hits          hubs and authorities                    hits_hub, hits_authority
    pagerank      random reader                           pagerank
    personalised  one who restarts by relevance           personalised
    trustrank     one who restarts at trusted pages       trustrank
    salsa         hubs and authorities, by random reader  salsa_hub, salsa_authority
    opic          plain OPIC, one score                   opic

    Each score has sum 1 over all pages. Without METHOD it lists the scores that the pages carry. Exits 1 when the
    tolerance was not reached.
    """
    from graphbrain import show
    from graphbrain.cli import sheets

    given = {name: value for name, value in options.items() if not (value is None or value is False or value == ())}
    if method is None:
        if given or no_write:
            raise click.UsageError("Say which METHOD the options are for.")
        return _list(app, as_json)
    with app.brain(auto_tend=False) as brain, show.task_bar() as bar:
        done = brain.rank(method, write=not no_write, progress=bar, **given)
    if as_json:
        show.json_lines([done.as_dict()])
    else:
        show.out(*sheets.ranking_sheet(done))
    if not done.converged:
        from graphbrain.ranking.algorithms import LEAST_CHANGE

        only_rounding = "arithmetic allows no less, so take a larger --tolerance or a smaller --damping"
        what = only_rounding if done.residual <= LEAST_CHANGE else "allow more --iterations"
        show.say(f"graphbrain: the tolerance was not reached; {what}.")
    return 0 if done.converged else 1


def _list(app: App, as_json: bool) -> int:
    """The scores that the pages carry."""
    from graphbrain import show
    from graphbrain.cli import sheets

    with app.brain(auto_tend=False) as brain:
        found = brain.rankings()
    if as_json:
        facts = (each.as_dict() for each in found)
        show.json_lines({name: value for name, value in each.items() if name != "best"} for each in facts)
    elif not show.write(sheets.rankings_table(found)):
        show.say("graphbrain: no batch scores yet; 'graphbrain rank pagerank' computes some.")
    return 0


COMMANDS = (rank,)
