"""`graphbrain demo`: a small web on loopback, the example crawler to copy, and the brain's result.

`pages` and `web` are the web, `crawler` is the file to copy, `show` runs them together.
May touch: a port on loopback, the local server, worker processes.
"""

__all__ = [
    "show",
]
