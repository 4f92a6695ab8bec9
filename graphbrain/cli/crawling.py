"""`graphbrain crawl`: a site crawled by one command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain import __version__
from graphbrain.base.errors import BadInput, GraphbrainError, SettingsError
from graphbrain.cli import archiving
from graphbrain.cli.beside import console_beside
from graphbrain.cli.common import App, as_json, brain_command, needing
from graphbrain.cli.declared import options_from
from graphbrain.cli.starting import started
from graphbrain.crawl import order as orders
from graphbrain.terminal import show

if TYPE_CHECKING:
    from http.cookiejar import Cookie

    from graphbrain.brain.brain import Brain
    from graphbrain.crawl.closing import CrawlEnd
    from graphbrain.crawl.holding import Worker
    from graphbrain.crawl.jsonl import PageLines
    from graphbrain.crawl.login import Login
    from graphbrain.crawl.running import Ended
    from graphbrain.crawl.spider import Running, Sink
    from graphbrain.crawl.warc import Archive

__all__ = ["COMMANDS"]

CONNECTION = ("uri", "user", "password", "database", "crawl", "data", "trace")
DONE, FAILED, LIMIT, NOTHING, SIGNED_OUT, INTERRUPTED = 0, 1, 3, 4, 5, 130
"""Exit codes; 2 is a wrong command line."""
LOOK = ("graphbrain summary crawl.html", "graphbrain ask")
"""The commands that show what was crawled, for the message at the end."""
EMPTY = "This brain is empty: give a URL to begin with, as in 'graphbrain crawl https://a.example/'."
NO_CONTACT = (
    "Give --contact with your e-mail address or a URL of yours, which is sent to the sites with each request, or "
    "--no-contact."
)
LAST_ANSWER = 5.0
"""Seconds for which a database that does not answer is asked again at the end."""
LAST_WORK = 5.0
"""Seconds for which scores are settled after the end of `--max-time`, and figures counted after it and after Ctrl-C."""
PACKAGES = ("scrapy", "twisted", "tldextract", "parsel", "warcio")


def _configured(ctx: click.Context, param: click.Parameter, file: Path | None) -> None:  # noqa: ARG001
    """Take the options of a file for those that are not given."""
    if file is None:
        return
    from graphbrain.crawl.config import options_in

    there = {str(other.name): other for other in ctx.command.params if other.name not in ("config", *CONNECTION)}
    options = options_in(file, there.keys())
    for name, value in options.items():
        if isinstance(value, str) and (there[name].nargs == -1 or there[name].multiple):
            options[name] = [value]
    ctx.default_map = {**(ctx.default_map or {}), **options}


@brain_command("crawl")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@options_from(orders.CrawlOrder, "scope", "anew")
@click.option("--yes", is_flag=True, help="With --anew: delete the brain's pages without asking.")
@options_from(orders.CrawlOrder, "max_pages", "user_agent")
@click.option("--contact", metavar="TEXT", help="Your e-mail address or URL, put into the User-Agent.")
@options_from(orders.CrawlOrder, "no_contact", "cookies")
@click.option("--header", multiple=True, metavar="'NAME: VALUE'", help="Sent to hosts of the scope only; repeatable.")
@options_from(orders.CrawlOrder, "login", "allow_private")
@click.option("--dry-run", is_flag=True, help="Show what would be crawled, and how long it takes; crawl nothing.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=_configured,
    help="Take options from this file, such as crawl.toml; the command line overrides it.",
)
@click.option("--console", is_flag=True, help="Show the crawl in a browser while it runs (needs .[serve]).")
@options_from(orders.CrawlOrder, "log", "log")
@as_json
def crawl(
    app: App,
    /,
    as_json: bool,
    contact: str | None,
    no_contact: bool,
    dry_run: bool,
    console: bool,
    yes: bool,
    **options: Any,
) -> int:
    """Crawl sites, beginning at URLs.

    A local server is started where none runs, and is left running. Without URLs it goes on with what waits. Run it
    twice at once, and both share the work; stop it with Ctrl-C, and the same command goes on.

    The scope is the URLs' hosts; of a brain that has pages it is changed by --add alone. robots.txt is obeyed, and
    sitemaps are read.

    Exits with 0 when nothing is left to be fetched, 3 when a limit was reached, 4 when nothing could be fetched, 5 when
    a session has ended, 130 when interrupted, 1 on an error, 2 on a wrong command line.
    """
    # Check the order and its files before a server is started.
    _need_extra()
    from graphbrain.brain.brain import Brain
    from graphbrain.crawl.login import Login, login_of
    from graphbrain.crawl.secrets import cookies_of, header_of

    options["headers"] = tuple(header_of(text) for text in options.pop("header"))
    order = _with_agent(orders.as_given(options), contact, no_contact)
    if dry_run:
        return _look(order, as_json)
    program = _browser_for(order)
    if order.wacz is not None:
        archiving.need_wacz(order.wacz)
    cookies = () if order.cookies is None else tuple(cookies_of(order.cookies))
    login = None if order.login is None else Login(login_of(order.login, os.environ))
    # Open the brain, prepare it for the order, and crawl.
    connection, is_new = _brain_at(app, order)
    try:
        with _hold(connection, app.data) as (worker, give_back), Brain.open(**connection, worker=worker) as brain:
            give_back(brain)
            if order.anew:
                order = _with_contact(brain, order)  # nothing is deleted for a crawl that would be refused
                _empty(brain, yes)
            agent = _prepare(brain, order)
            where = [*LOOK, *_browser(connection, app.data)]
            with console_beside(connection, app.data) if console else nullcontext():
                return _run(brain, order, cookies, login, agent, program, where, app.data, as_json)
    finally:
        if is_new:
            show.say(
                f"graphbrain: Neo4j is left running; 'graphbrain server stop{_at(app.data)}' ends it, and keeps the "
                "crawl."
            )


def _need_extra() -> None:
    """Raise GraphbrainError, with how to install it, where the extra is missing."""
    with needing("'graphbrain crawl'", "crawl", *PACKAGES):
        from graphbrain.crawl import running  # noqa: F401


def _browser_for(order: orders.CrawlOrder) -> str:
    """Return the path of the browser that renders pages; empty if none is to. Raise GraphbrainError where it, or the
    package that drives it, is missing."""
    if not order.render:
        return ""
    with needing("--render", "render", "playwright"):
        from graphbrain.crawl import browser
    program = browser.browser_at(order.browser)
    if not browser.is_sandboxed():
        show.say("graphbrain: the browser runs without its sandbox, because you are root.")
    return program


def _at(data: Path | None) -> str:
    """The option that names the data directory, where one was given."""
    return f" --data {data}" if data is not None else ""


def _brain_at(app: App, order: orders.CrawlOrder) -> tuple[dict[str, Any], bool]:
    """Return the arguments that open the brain, and whether a server was started for it. A new one is not started for
    an order that would be refused."""
    from graphbrain.graph.server import lifecycle

    try:
        return app.arguments(), False
    except GraphbrainError:
        if not ((app.data or lifecycle.default_data_dir()).expanduser() / "data").exists():  # there is no brain yet
            if not order.urls:
                raise BadInput(EMPTY) from None
            if order.user_agent is None and _needs_contact(order) and not _is_on_terminal():
                raise BadInput(NO_CONTACT) from None
        started(app.data)
        return app.arguments(), True


# ---------------------------------------------------------------- before


@contextmanager
def _hold(connection: Mapping[str, Any], data: Path | None) -> Iterator[tuple[str | None, Callable[[Brain], None]]]:
    """Hold the lock of this crawl's worker. Yield its name, None where the environment has one, and a function that
    returns what crawls held that have ended."""
    from graphbrain.crawl import holding
    from graphbrain.graph.server import lifecycle

    if "GRAPHBRAIN_WORKER" in os.environ:
        yield None, lambda _: None
        return
    own = holding.Worker.here()
    folder = (data or lifecycle.default_data_dir()).expanduser() / "crawls"
    mark = holding.brain_mark(*(str(connection.get(name, "")) for name in ("uri", "database", "crawl")))
    with holding.holding(folder, mark, own):
        yield str(own), lambda brain: _give_back(brain, folder, mark, own)


def _give_back(brain: Brain, folder: Path, mark: str, own: Worker) -> None:
    """Return the claims of crawls that have ended, and print what cannot be returned."""
    from graphbrain.crawl import holding

    if number := holding.returned(brain, folder, mark, own):
        show.say(f"graphbrain: {show.counted(number, 'page')} of a crawl that was killed can be fetched again at once.")
    for pages, lapses in holding.held_by_ended(brain, own):
        are = "page is" if pages == 1 else "pages are"
        show.say(f"graphbrain: {pages:,} {are} held by a crawl that ended; they are free at {lapses:%H:%M}.")


def _with_agent(order: orders.CrawlOrder, contact: str | None, no_contact: bool) -> orders.CrawlOrder:
    """The order with a user agent, where a contact was given."""
    if contact is not None:
        if order.user_agent is not None:
            raise click.UsageError("Give either --user-agent or --contact.")
        return replace(order, user_agent=orders.agent_for(contact, __version__))
    if order.user_agent is not None:
        orders.token(order.user_agent)
        if not no_contact and orders.lacks_contact(order.user_agent):
            show.say("graphbrain: the user agent names no contact: owners of sites cannot write to you.")
    return replace(order, no_contact=no_contact)


def _prepare(brain: Brain, order: orders.CrawlOrder) -> str:
    """Prepare the brain for the order, or refuse it. Return the user agent."""
    pages = brain.quick_figures()["known_pages"]
    if not pages and not order.urls:
        raise BadInput(EMPTY)
    # A brain with pages keeps its scope and settings, unless the order adds to them.
    if pages and order.add and (changes := orders.added_to(brain.settings, order)):
        brain.change(**changes)
    if pages and (why := orders.refusal(brain.settings, order)):
        raise SettingsError(why)
    if not pages:
        _say_kept(orders.kept(brain.settings, order))
    order = _with_contact(brain, order)
    # An empty brain gets those of the order.
    wanted = {"user_agent": order.user_agent or brain.settings.user_agent}
    wanted |= {} if pages else orders.shared(order)
    if changes := {name: value for name, value in wanted.items() if value != getattr(brain.settings, name)}:
        brain.change(**changes)
    return brain.settings.user_agent


def _empty(brain: Brain, yes: bool) -> None:
    """Empty the brain, when the user agrees, and let its scope have no limits."""
    stats = brain.stats()
    if stats["leased"]:
        leased = show.counted(stats["leased"], "page")
        raise GraphbrainError(
            f"Another crawl holds {leased} of this brain: stop it before --anew, or give this one a brain of its own "
            "with --data DIR."
        )
    # Ask, where that is possible.
    count = stats["pages"] + stats["outside_pages"]
    pages = show.counted(count, "page")
    agreed = yes or not count
    if not agreed and _is_on_terminal():
        agreed = click.confirm(f"Delete {pages}, with their links and hosts?", err=True)
    if not agreed:
        raise GraphbrainError(f"--anew deletes {pages}: nothing was deleted; confirm with --yes.")
    brain.clear()
    brain.change(allow_hosts="", allow_urls="", deny_hosts="", deny_urls="", max_depth=0)


def _say_kept(settings: Mapping[str, Any]) -> None:
    if settings:
        each = ", ".join(f"{name} {value!r:.60}" for name, value in settings.items())
        show.say(
            f"graphbrain: this empty brain has settings that differ from the defaults: {each}. "
            "'graphbrain change' changes them."
        )


def _needs_contact(order: orders.CrawlOrder) -> bool:
    """Return whether a crawl of these URLs needs a contact: on this machine none is needed."""
    return bool(order.urls) and not order.no_contact and not orders.is_local(order.bare_urls())


def _is_on_terminal() -> bool:
    """Return whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _with_contact(brain: Brain, order: orders.CrawlOrder) -> orders.CrawlOrder:
    """The order with a user agent that names a contact, which is asked for; on this machine none is needed."""
    named = order.user_agent is not None or brain.settings.user_agent != orders.DEFAULT_AGENT
    if named or not _needs_contact(order):
        return order
    if not _is_on_terminal():
        raise BadInput(NO_CONTACT)
    show.say(
        "graphbrain: sites see who crawls them. Your e-mail address, or a URL of yours, is sent with each request."
    )
    while True:
        try:
            return replace(order, user_agent=orders.agent_for(click.prompt("Contact", err=True), __version__))
        except BadInput as error:
            show.say(f"graphbrain: {error}")


# ---------------------------------------------------------------- the run, and its end


def _run(
    brain: Brain,
    order: orders.CrawlOrder,
    cookies: Sequence[Cookie],
    login: Login | None,
    agent: str,
    program: str,
    where: Sequence[str],
    data: Path | None,
    as_json: bool,
) -> int:
    from graphbrain.crawl import closing
    from graphbrain.crawl.again import Again
    from graphbrain.crawl.archive import Archiving
    from graphbrain.crawl.requisites import Requisites
    from graphbrain.crawl.running import ScrapyRun
    from graphbrain.crawl.secrets import check_reach
    from graphbrain.crawl.showing import shown
    from graphbrain.crawl.spider import Running
    from graphbrain.crawl.watching import CrawlWatch

    check_reach(order, cookies, None if login is None else login.form, brain)
    with ExitStack() as stack:
        # The outputs, each closed at the end of the crawl.
        lines = None if order.jsonl is None else stack.enter_context(_lines(order.jsonl, order))
        sinks: list[Sink] = [] if lines is None else [lines]
        running = Running(order, brain, CrawlWatch(), sinks, cookies, login)
        running.lines = lines
        sinks.append(again := Again(running.watch))
        running.again = None if order.revisit else again
        if order.warc is not None:
            running.archive = Archiving(running, stack.enter_context(_archive(running, order.warc, agent)))
            if order.requisites:
                running.requisites = stack.enter_context(Requisites(order.warc))
                sinks.append(running.requisites)
        if order.render:
            from graphbrain.crawl.browser import Renderer

            running.renderer = Renderer(program, agent)
        # Crawl.
        say, looked = stack.enter_context(shown(running))
        ended = ScrapyRun(running, agent, say, looked).run()
    # What follows a crawl: its WACZ, settled scores, the closing lines.
    _pack(running, ended)
    limit = LAST_WORK if ended.reason in ("interrupted", "max_time") else None
    if ended.reason not in ("failed", "interrupted"):
        _settle(brain, limit)
    figures = None if ended.reason == "failed" else _figures(brain, limit)
    waiting, forbidden = 0, False
    if isinstance(figures, closing.CrawlEnd):
        waiting, forbidden = figures.waiting, figures.is_forbidden
    code = _code(running, ended, waiting, forbidden)
    if figures is not None:
        facts = closing.as_dict(running.watch, ended.seconds, figures, code)
        show.answer(facts, show.sheet(closing.lines(running.watch, ended.seconds, figures, where)), as_json)
    _say_end(running, ended, code, waiting, forbidden, data)
    return code


def _lines(file: Path, order: orders.CrawlOrder) -> PageLines:
    from graphbrain.crawl.jsonl import PageLines

    return PageLines(file, text=order.text, news=order.revisit)


@contextmanager
def _archive(running: Running, folder: Path, agent: str) -> Iterator[Archive]:
    """The WARC files of this run; those that a killed one has left are mended first."""
    from graphbrain.crawl.archive import archive_of

    scope = running.brain.settings.allow_urls or running.brain.settings.allow_hosts
    try:
        # Finish what a killed crawl has left.
        archiving.mended(folder)
        archive = archive_of(running.order, agent, scope)
    except OSError as error:
        raise BadInput(f"--warc {folder} cannot be written ({error.strerror or error}).") from None
    try:
        yield archive
    finally:
        try:
            archive.close()
        except OSError as error:
            running.fail(str(error))
            show.say(
                f"graphbrain: the last WARC file in {folder} cannot be finished ({error.strerror or error}): the next "
                "crawl with this --warc finishes it."
            )


def _pack(running: Running, ended: Ended) -> None:
    """Pack the archive into one file, if the order wants it and the run has ended by itself or by a limit."""
    order = running.order
    if order.wacz is None or order.warc is None:
        return
    if ended.reason in ("failed", "interrupted"):
        show.say(f"graphbrain: {order.wacz} is not made: 'graphbrain wacz {order.warc} {order.wacz}' makes it.")
        return
    try:
        archiving.packed(order.warc, order.wacz, order.wacz_size)
    except (GraphbrainError, OSError) as error:
        running.fail(f"{order.wacz} is not made")
        show.say(f"graphbrain: {error}")


def _look(order: orders.CrawlOrder, as_json: bool) -> int:
    """Print what a crawl would do, and return the exit code."""
    from graphbrain.crawl import dryrun

    if not order.urls:
        raise BadInput("--dry-run wants the URLs that a crawl would begin with.")
    with show.status_line() as line:
        sites = dryrun.looked_at(order, order.user_agent or orders.DEFAULT_AGENT, line)
    show.answer(sites, show.sheet(dryrun.rows(sites)), as_json)
    show.say("graphbrain: nothing was crawled, and no brain was asked.")
    return DONE if any(site.inside for site in sites) else NOTHING


def _code(running: Running, ended: Ended, waiting: int, forbidden: bool) -> int:
    """Return the exit code. `waiting`: the number of pages that wait for their first try. `forbidden`: True if
    robots.txt leaves no page to fetch."""
    if ended.reason == "interrupted":
        return INTERRUPTED
    if ended.reason == "failed" or running.failure:
        return FAILED
    if ended.reason == "signed_out" or running.signed_out:
        return SIGNED_OUT
    if ended.reason == "nothing":
        return NOTHING
    useful = running.watch.useful() > 0
    if ended.reason in ("max_pages", "max_time"):
        return LIMIT if useful else NOTHING
    tried = running.watch.failures() or forbidden or running.watch.outcomes.total() or running.watch.meets_walls()
    if tried and not useful:
        return NOTHING
    return LIMIT if waiting else DONE


def _settle(brain: Brain, seconds: float | None) -> None:
    """Finish the scores, so that what is asked afterwards is right. Ctrl-C leaves it. `seconds`: its limit."""
    with suppress(GraphbrainError, KeyboardInterrupt), show.timed_line() as line:
        line("settling the scores; Ctrl-C leaves it")
        brain.tend(seconds)


def _figures(brain: Brain, seconds: float | None) -> CrawlEnd | GraphbrainError:
    """Return what the brain knows at the end, or why it cannot be asked. `seconds`: a limit for counts of all pages."""
    from graphbrain.crawl import closing

    brain.graph.hurry(LAST_ANSWER)
    try:
        with show.status_line() as line:
            line("looking at what was found")
            return closing.found(brain, seconds)
    except GraphbrainError as error:
        return error


def _browser(connection: Mapping[str, Any], data: Path | None) -> list[str]:
    """The address of Neo4j Browser, where the server is a local one."""
    from graphbrain.graph.server import lifecycle

    server = lifecycle.find(data)
    return [server.browser] if server is not None and server.uri == connection.get("uri") else []


def _say_end(running: Running, ended: Ended, code: int, waiting: int, forbidden: bool, data: Path | None) -> None:
    """Print why nothing was fetched, and how the crawl is continued."""
    for sentence in running.watch.ends_walled():
        show.say(f"graphbrain: {sentence}")
    # One sentence on the end, by the exit code.
    if code == NOTHING:
        show.say(f"graphbrain: nothing could be fetched: {_why_nothing(running, ended, forbidden)}.")
    elif code == SIGNED_OUT:
        show.say(f"graphbrain: with a session, 'graphbrain crawl{_at(data)}' goes on: the pages without it wait.")
    elif code == DONE and not running.watch.fetched:
        show.say(f"graphbrain: nothing is to be fetched now{f'; {ended.when}' if ended.when else ''}.")
    elif code == DONE and ended.when:
        show.say(f"graphbrain: nothing more is to be fetched now; {ended.when}.")
    elif code == LIMIT and ended.reason == "finished":
        pages = "1 page waits for its first try" if waiting == 1 else f"{waiting:,} pages wait for their first try"
        when = f" ({ended.when})" if ended.when else ""
        show.say(f"graphbrain: {pages}, as for a host that fails{when}; 'graphbrain crawl{_at(data)}' goes on then.")
    elif code in (LIMIT, INTERRUPTED):
        why = {"max_pages": "--max-pages is reached", "max_time": "--max-time is over"}.get(ended.reason, "interrupted")
        show.say(f"graphbrain: {why}; 'graphbrain crawl{_at(data)}' goes on where it stopped.")


def _why_nothing(running: Running, ended: Ended, forbidden: bool) -> str:
    failures = running.watch.failures()
    if forbidden and not failures:
        return "robots.txt forbids it"
    if running.watch.fetched:
        return "all pages led to a login"
    if failures:
        return "all pages failed (" + ", ".join(f"{kind} ×{n:,}" for kind, n in failures.most_common(3)) + ")"
    if ended.reason == "max_time":
        return "--max-time was over before an answer came"
    if running.watch.outcomes["alias"]:
        return "what was asked for leads to pages outside the scope: begin there, or use --scope domain"
    return ended.why or "the lines above have the reasons"


COMMANDS = (crawl,)
