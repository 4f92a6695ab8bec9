"""The commands of scores of the whole graph: rank, settle."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.brain.brain import VERBS
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, brain_command
from graphbrain.cli.declared import options, type_of
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("method", metavar="[METHOD]", type=type_of(VERBS["rank"].arguments["method"]), required=False)
@options("rank", "damping", "tolerance", "iterations", "only_external", "content", "trusted", "top")
@click.option("--no-write", is_flag=True, help="Leave the pages as they are.")
@click.option("--from", "source", metavar="DIR", help="Write the scores that 'graphbrain spark rank' has left there.")
@as_json
def rank(app: App, method: str | None, no_write: bool, source: str | None, as_json: bool, **given: Any) -> int:
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
    chosen = {name: value for name, value in given.items() if not (value is None or value is False or value == ())}
    if source is not None:
        if chosen or no_write or method is not None:
            raise click.UsageError("The method and its options are in DIR: give --from alone.")
        return _bring(app, source, as_json)
    # Without a method, list the scores that there are.
    if method is None:
        if chosen or no_write:
            raise click.UsageError("Give the METHOD that the options are for.")
        return _list(app, as_json)
    with app.brain(auto_tend=False) as brain, show.task_bar() as bar:
        done = brain.rank(method, write=not no_write, progress=bar, **chosen)
    show.answer(done, sheets.ranking_sheet, as_json)
    # If the tolerance was not reached, name the remedy.
    if not done.converged:
        from graphbrain.scores.ranking.algorithms import LEAST_CHANGE

        only_rounding = "arithmetic allows no less, so take a larger --tolerance or a smaller --damping"
        what = only_rounding if done.residual <= LEAST_CHANGE else "allow more --iterations"
        show.say(f"graphbrain: the tolerance was not reached; {what}.")
    return 0 if done.converged else 1


def _bring(app: App, source: str, as_json: bool) -> int:
    """Write the scores that a folder holds to the pages, and return the exit code."""
    from graphbrain.brain import bring

    with app.brain(auto_tend=False) as brain, show.task_bar() as bar:
        scores, pages = bring.rank(brain, source, bar)
        total = brain.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")[0]
    facts = {"scores": scores, "pages": pages, "without": max(0, total - pages)}
    show.answer(facts, show.sheet(facts.items()), as_json)
    if not pages:
        show.say("graphbrain: none of the pages of these scores is in the graph; nothing was written.")
    return 0 if pages else 1


@brain_command()
@options("settle", "tolerance")
@click.option("--from", "source", metavar="DIR", help="Take the goal that 'graphbrain spark settle' has left there.")
@as_json
def settle(app: App, tolerance: float | None, source: str | None, as_json: bool) -> int:
    """Bring all accounts to their fixed point at once.

    The links are read, and the fixed point is found in memory (18 bytes a link); with --from it is read from files, by
    key. Crawlers may go on meanwhile. What changes waits for pushes, which 'graphbrain tend' makes. Exits 1 when
    another process makes such a pass.
    """
    from graphbrain.brain import bring

    error = SETTLED_TO if tolerance is None else tolerance
    with app.brain(auto_tend=False) as brain, show.task_bar() as bar:
        if source is None:
            done = brain.settle(tolerance=error, progress=bar)
        else:
            done = bring.settle(brain, source, error, bar)
        # The error bound afterwards.
        rule, looks = brain.policy.rule, brain.engine.looks
        bound = brain.graph.read(lambda tx: looks.error_bound(tx, rule), "audit/waiting")
        empty = not brain.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")[0]
    facts = {**dataclasses.asdict(done), "error_bound": bound}
    show.answer(facts, show.sheet((name.replace("_", " "), value) for name, value in facts.items()), as_json)
    if not done.pages and not empty:
        show.say("graphbrain: another process is making a settling pass, or the files have none of these pages.")
        return 1
    return 0


def _list(app: App, as_json: bool) -> int:
    """The scores that the pages carry."""
    with app.brain(auto_tend=False) as brain:
        carried = brain.rankings()
    facts = ({name: value for name, value in each.as_dict().items() if name != "best"} for each in carried)
    nothing = "graphbrain: no batch scores yet; 'graphbrain rank pagerank' computes some."
    show.answer(facts, sheets.rankings_table(carried), as_json, nothing)
    return 0


COMMANDS = (rank, settle)
