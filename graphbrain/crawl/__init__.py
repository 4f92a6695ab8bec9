"""Crawling by Scrapy: `graphbrain crawl`, its WARC and JSON files, its browser and messages; the add-on for spiders.

`order` has the user's order, and the settings of the brain that follow from it. `running` runs Scrapy in this process,
with the add-on in `scrapy`, which users know as `graphbrain.scrapy`. `browser` renders a page in Chromium, and
`render_step` calls it from Scrapy's downloader. `watching` counts events and recognises sites that block. `warc` and
`jsonl` write the fetched pages, and `conditions` requests pages in full that these files lack. `closing` makes the
summary that `cli.crawling` prints. `holding` returns the claims of a killed crawl. `login` fills in a form before the
first page.
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
