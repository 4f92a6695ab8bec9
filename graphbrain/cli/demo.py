"""`graphbrain demo`: a first crawl, of a generated web."""

from __future__ import annotations

import click

from graphbrain.cli.common import App, connection, pass_app

__all__ = ["COMMANDS"]


@click.command()
@click.option("--pages", type=click.IntRange(20), default=400, help="Pages of the web (400).")
@click.option("--workers", type=click.IntRange(0), default=1, help="Worker processes (1).")
@click.option("--topic", metavar="WORDS", help="Crawl for pages about these words.")
@click.option("--keep", is_flag=True, help="Leave the server running.")
@connection
@pass_app
def demo(app: App, pages: int, workers: int, topic: str | None, keep: bool) -> int:
    """Crawl a small generated web, here and now.

    It starts a Neo4j of its own, serves some hundreds of pages on this machine, lets two crawlers share
    them over HTTP, kills one in the middle, and shows what comes of it. Run again, it begins anew; a
    server that --keep has left running is used, and left running. Its server has a directory of its own, not that of
    GRAPHBRAIN_DATA; --data names another. Exits 1 when anything was wrong.
    """
    from graphbrain.demo.show import run_demo

    uri = app.given.get("uri")
    clean = run_demo(data=app.data, keep=keep, uri=uri, pages=pages, workers=workers, topic=topic)
    return 0 if clean else 1


COMMANDS = (demo,)
