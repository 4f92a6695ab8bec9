"""A crawl by one command: the user's order, the run of Scrapy that executes it, and its messages.

`order` is the order, and the brain's settings that follow from it; `running` runs Scrapy in this process, with the
add-on of `graphbrain.scrapy`; `watching` counts events and recognises sites that block; `closing` sums up.
May touch: Scrapy and its reactor, signals, files that the user has named. Knows of graphbrain: `Brain`, its figures,
analysts' questions, the add-on.
"""

__all__ = [
    "again",
    "archive",
    "browser",
    "closing",
    "config",
    "dryrun",
    "gone",
    "jsonl",
    "order",
    "rendering",
    "requisites",
    "running",
    "secrets",
    "showing",
    "spider",
    "supplies",
    "warc",
    "watching",
]
