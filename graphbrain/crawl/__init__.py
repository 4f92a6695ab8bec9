"""Crawling by Scrapy: `graphbrain crawl`, its WARC and JSON files, its browser and messages; the add-on for spiders.

`order` is the user's order, and the brain's settings that follow from it; `running` runs Scrapy in this process, with
the add-on in `scrapy`; `browser` renders a page in Chromium, and `render_step` calls it from Scrapy's downloader;
`watching` counts events and recognises sites that block; `warc` and `jsonl` write what was fetched, and `conditions`
asks in full for what they lack; `closing` makes the closing lines, which `cli.crawling` prints; `holding` returns the
claims of a crawl that was killed; `login` fills in a form before the first page. Users know the add-on as
`graphbrain.scrapy`.
May touch: Scrapy and its reactor, signals, files that the user has named. Knows of graphbrain: `Brain`, its figures,
analysts' questions.
"""

__all__ = [
    "again",
    "archive",
    "browser",
    "captures",
    "closing",
    "conditions",
    "config",
    "dryrun",
    "filenames",
    "holding",
    "jsonl",
    "login",
    "mirror",
    "order",
    "references",
    "render_step",
    "requisites",
    "rewriting",
    "running",
    "secrets",
    "showing",
    "spider",
    "wacz",
    "warc",
    "watching",
]
