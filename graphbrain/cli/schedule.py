"""Commands that tell the schedule what it cannot know: what pages are worth, how often they change, what is wanted."""

from __future__ import annotations

import click

from graphbrain.cli.common import App, brain_command, number_or_none, said_of

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("url")
@click.argument("value", metavar="NUMBER|none")
def value(app: App, url: str, value: str) -> None:
    """Set what a page is worth to you.

    It counts with 'graphbrain change value=own'; a page of which nothing was said is worth 1.
    """
    with app.brain() as brain:
        brain.set_value(url, number_or_none(value))
    said_of(url, "value", value)


@brain_command()
@click.argument("url")
@click.argument("per_day", metavar="CHANGES-A-DAY|none")
def rate(app: App, url: str, per_day: str) -> None:
    """Set how often a page changes, as far as you know.

    What visits find moves it from there; 'none' forgets all that was learned.
    """
    with app.brain() as brain:
        brain.set_rate(url, number_or_none(per_day))
    said_of(url, "rate", per_day)


@brain_command()
@click.argument("url")
@click.argument("seconds", metavar="SECONDS|none")
def interval(app: App, url: str, seconds: str) -> None:
    """Fetch a page at a fixed interval, whatever it is worth.

    'none' leaves it to the order again. For many pages: 'graphbrain change intervals="/news/ 3600"'.
    """
    with app.brain() as brain:
        brain.set_interval(url, number_or_none(seconds))
    said_of(url, "interval", seconds)


@brain_command("now")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
def now(app: App, urls: tuple[str, ...]) -> int:
    """Hand pages out before all others.

    Also those that were given up, and those that nobody has met yet. Delays of their hosts hold. Fails when one of
    them cannot be fetched: it is outside the scope, or was forgotten for ever.
    """
    from graphbrain import show

    with app.brain() as brain:
        will = brain.crawl_now(urls)
    for url, good in zip(urls, will, strict=True):
        if not good:
            show.say(f"graphbrain: {url} will not be fetched: outside the scope, forgotten for ever, or no URL.")
    are = "is" if sum(will) == 1 else "are"
    show.say(f"graphbrain: {show.counted(sum(will), 'page')} {are} handed out before all others.")
    return 0 if all(will) else 1


COMMANDS: tuple[click.Command, ...] = (value, rate, interval, now)
