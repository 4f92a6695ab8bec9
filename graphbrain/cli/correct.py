"""The commands that correct what the brain knows by hand: links, pages; and pause it."""

from __future__ import annotations

import click

from graphbrain.cli.common import App, brain_command
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--for-ever", is_flag=True, help="Refuse it when it is met again.")
def forget(app: App, urls: tuple[str, ...], for_ever: bool) -> int:
    """Delete pages; the accounts are repaired.

    Exits 1 when one is not there; the others are deleted. With --for-ever what is not there is no mistake.
    """
    with app.brain() as brain:
        had = {url: brain.forget(url, for_ever=for_ever) for url in urls}
    removed = [links for links in had.values() if links is not None]
    refused = f"; {len(had):,} {'is' if len(had) == 1 else 'are'} refused from now on" if for_ever else ""
    done = f"{show.counted(len(removed), 'page')} forgotten, with {show.counted(sum(removed), 'link')}"
    show.say(f"graphbrain: {done}{refused}.")
    missing = [] if for_ever else [url for url, links in had.items() if links is None]
    for url in missing:
        show.say(f"graphbrain: {url} is not in the graph.")
    return 1 if missing else 0


@brain_command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--host", metavar="HOST", help="All of this host.")
@click.option("--state", type=click.Choice(["parked", "gone", "alias", "frontier", "known"]), help="All of this state.")
def retry(app: App, urls: tuple[str, ...], host: str | None, state: str | None) -> int:
    """Let pages that have failed wait again, at once.

    Those that were given up (parked, gone), those that redirect (alias), and those that wait to be tried again. What
    they have done before is forgotten. Exits 1 when there is none.
    """
    from graphbrain.brain.names import Names

    with app.brain() as brain:
        if host is not None:
            Names(brain.session).known_host(host)  # raises UnknownHost for one that has not been met
        count = brain.retry(*urls, host=host, state=state)
    waiting = f"{show.counted(count, 'page')} {'waits' if count == 1 else 'wait'} again"
    show.say(f"graphbrain: {waiting}" + ("." if count else ": none of these has failed."))
    return 0 if count else 1


@brain_command()
def pause(app: App) -> None:
    """Stop all claims until 'resume'.

    Running crawlers take it up within a second. They may report what they hold; they wait, or end, as they do when
    nothing can be claimed.
    """
    with app.brain(auto_tend=False, as_it_is=True) as brain:
        done = brain.pause()
        leased = brain.stats()["leased"]
    out = f" {show.counted(leased, 'page')} {'is' if leased == 1 else 'are'} with crawlers still." if leased else ""
    was = "is paused" if done else "was paused already"
    show.say(f"graphbrain: the brain {was}: no page can be claimed until 'graphbrain resume'.{out}")


@brain_command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
def park(app: App, urls: tuple[str, ...]) -> int:
    """Give pages up: they are fetched no more.

    'retry URL' lets them wait again, as do 'now' and 'seed'. Exits 1 when one cannot be parked: a crawler holds it, it
    redirects, or it is outside the scope.
    """
    with app.brain() as brain:
        parked = dict(zip(urls, brain.park(*urls), strict=True))
        unparked = {url: brain.page(url) for url, done in parked.items() if not done}
    for url, page in unparked.items():
        why = "a crawler holds it" if page.lease_until is not None else f"it is {page.state}"
        show.say(f"graphbrain: {url} is not parked: {why}.")
    count = len(parked) - len(unparked)
    show.say(f"graphbrain: {show.counted(count, 'page')} parked; 'graphbrain retry URL' undoes it.")
    return 1 if unparked else 0


COMMANDS: tuple[click.Command, ...] = (forget, retry, park, pause)
