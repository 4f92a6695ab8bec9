"""The commands that correct by hand what is known and wanted of pages, and pause the brain."""

from __future__ import annotations

import sys
from typing import IO

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


@brain_command("now")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--host", help="All pages of this host that are in the scope.")
@click.option("--pattern", metavar="REGEX", help="All pages in the scope whose URLs have this in them.")
@click.option("--file", "source", type=click.File(encoding="utf-8-sig", errors="replace"), help="As for 'seed'.")
@click.option("--new", is_flag=True, help="Make pages of URLs that are not known yet, without asking.")
def now(
    app: App, urls: tuple[str, ...], host: str | None, pattern: str | None, source: IO[str] | None, new: bool
) -> int:
    """Let pages be claimed before all others.

    Also those that were given up. Of a URL that is not known yet a page is made with --new, or when it is asked for
    on a terminal. Delays of hosts hold. Fails when one of them cannot be fetched: it is outside the scope, or was
    forgotten for ever.
    """
    from graphbrain.base.errors import UnknownPage
    from graphbrain.files.seed_files import urls_in

    if not urls and host is None and pattern is None and source is None:
        raise click.UsageError("Give at least one URL, --host, --pattern or --file.")
    wanted = [*urls, *urls_in(source or ())]
    with app.brain() as brain:
        if not new:
            # Ask before pages are created.
            unknown = []
            for url in wanted:
                try:
                    brain.page(url)
                except UnknownPage:
                    unknown.append(url)
            if unknown and not _makes(unknown):
                return 1
        if host is not None or pattern is not None:
            # Add the pages of the host, or that match.
            pages = brain.find(regex=pattern, host=host)
            wanted += [page.url for page in pages if page.state != "outside"]
        if not wanted:
            show.say("graphbrain: no page in the scope fits that.")
            return 1
        will = brain.crawl_now(wanted)
    # Name those that will not be fetched.
    for url, good in zip(wanted, will, strict=True):
        if not good:
            show.say(f"graphbrain: {url} will not be fetched: outside the scope, forgotten for ever, or no URL.")
    are = "is" if sum(will) == 1 else "are"
    show.say(f"graphbrain: {show.counted(sum(will), 'page')} {are} claimed before all others.")
    return 0 if all(will) else 1


def _makes(unknown: list[str]) -> bool:
    """Ask on a terminal whether pages are to be made of URLs that have not been met."""
    few = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else "")
    if sys.stdin.isatty() and sys.stderr.isatty():
        return click.confirm(f"{few}: not known yet. Make a page of each?", err=True)
    show.say(f"graphbrain: {few}: not known yet; --new makes pages of them. Nothing was done.")
    return False


COMMANDS: tuple[click.Command, ...] = (forget, retry, park, pause, now)
