"""A crawl by one command: what a user asks for, the run of Scrapy that does it, and what it says.

`order` is what was asked for, and what follows from it for the brain; `running` runs Scrapy in this process, with the
add-on of `graphbrain.scrapy`; `watching` counts what happens and recognises sites that block; `closing` sums up.
May touch: Scrapy and its reactor, signals, files that the user has named. Knows of graphbrain: `Brain`, its figures,
analysts' questions, the add-on.
"""

__all__ = [
    "again",
    "archive",
    "closing",
    "config",
    "dryrun",
    "gone",
    "jsonl",
    "order",
    "requisites",
    "running",
    "secrets",
    "showing",
    "spider",
    "warc",
    "watching",
]
