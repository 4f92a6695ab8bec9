"""The base of all rooms: errors, settings, options of verbs, records of pages and hosts, URLs, arrays, this process.

`model`, `records` and `work` have the values that crawlers and the brain exchange. `settings` has all settings, and
`options` the options of each verb. `urls` makes the normal form of a URL. `numeric` has arrays and the names of scores.
`runtime` has the memory, the durations and the tokens of this process.
May touch: the environment, the operating system and the list of installed packages; no file and no network.
"""

__all__ = [
    "errors",
    "model",
    "numeric",
    "options",
    "records",
    "runtime",
    "settings",
    "urls",
    "work",
]
