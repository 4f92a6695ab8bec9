"""The commands that look: top, page, stats, audit."""

from __future__ import annotations

import click

from graphbrain.cli_common import App, as_json, brain_command

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("count", metavar="[N]", type=click.IntRange(1), default=10)
@click.option("--by", type=click.Choice(["authority", "hub"]), default="authority")
@as_json
def top(app: App, count: int, by: str, as_json: bool) -> None:
    """List the N best pages (10 unless given)."""
    from graphbrain import show

    with app.brain(auto_tend=False) as brain:
        pages = brain.top(count, by="hub" if by == "hub" else "authority")
    if as_json:
        show.json_lines(page.as_dict() for page in pages)
    elif pages:
        show.out(show.top_table(pages, by))
    else:
        show.say("graphbrain: no page stands out yet; scores come by links and 'graphbrain tend'.")


@brain_command()
@click.argument("url")
@click.option("--links", is_flag=True, help="Also list its successors and predecessors.")
@as_json
def page(app: App, url: str, links: bool, as_json: bool) -> None:
    """Show all that is known of one page.

    URL may also be its key.
    """
    from graphbrain import show

    with app.brain(auto_tend=False) as brain:
        found = brain.page(url)
        successors, predecessors = brain.neighbours(found.url) if links else ([], [])
    if as_json:
        more = {"successors": successors, "predecessors": predecessors} if links else {}
        show.json_lines([{**found.as_dict(), **more}])
        return
    show.out(*show.page_sheet(found))
    for title, urls in (("links to", successors), ("linked from", predecessors)):
        if urls:
            show.out("", show.rows_table((title,), [(other,) for other in urls]))


@brain_command()
@as_json
def stats(app: App, as_json: bool) -> None:
    """Show the crawl in figures."""
    from graphbrain import show

    with app.brain(auto_tend=False) as brain:
        figures = brain.stats()
    if as_json:
        show.json_lines([figures])
    else:
        show.out(show.stats_sheet(figures))


@brain_command()
@click.option("--sample", type=click.IntRange(1), help="Accounts recomputed (1000 unless given).")
@click.option("--all", "whole", is_flag=True, help="Recompute every account.")
@as_json
def audit(app: App, sample: int | None, whole: bool, as_json: bool) -> int:
    """Check that the accounts agree with the graph.

    And states with claims and indexes. Exits 1 when something is off.
    """
    from graphbrain import show

    if whole and sample is not None:
        raise click.UsageError("Give either --sample or --all, not both.")
    with app.brain(auto_tend=False) as brain, show.audit_bar() as bar:
        result = brain.audit(None if whole else sample or 1000, progress=bar)
    if as_json:
        figures = {"ok": result.ok, "findings": result.findings, "figures": result.figures}
        show.json_lines([figures])
    else:
        show.out(show.stats_sheet(result.figures))
        for finding in result.findings:
            show.out(f"OFF: {finding}")
        show.out("clean" if result.ok else f"{len(result.findings)} things are off")
    return 0 if result.ok else 1


COMMANDS = (top, page, stats, audit)
