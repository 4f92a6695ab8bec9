"""The console: a page in a browser on which a crawl is watched, and acted on.

`shell` has the files of the page, which hold nothing of a crawl. `watch` reads what the page shows, `hosts` the table
of all hosts, and `minutes` keeps what no graph keeps. The service serves them.
May touch: its own files; the graph by `Brain`, which only reads here.
"""

__all__ = ["hosts", "minutes", "shell", "watch"]
