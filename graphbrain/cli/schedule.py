"""Commands about what is wanted next: pages before all others, and the status of links."""

from __future__ import annotations

import sys
from typing import IO

import click

from graphbrain.cli.common import App, brain_command
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


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


COMMANDS: tuple[click.Command, ...] = (now,)
