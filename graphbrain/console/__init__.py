"""The console: a page in a browser on which a crawl is watched, and acted on.

`shell` has the files of the page, which tell nothing of a crawl; `watch` reads what it shows, and `minutes` keeps what
no graph keeps. The service hands both out.
May touch: its own files; the graph by `Brain`, which only reads here.
"""

__all__ = ["minutes", "shell", "watch"]
