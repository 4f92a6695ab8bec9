"""The client of a service: the verbs of `Brain`, its types and its errors, over HTTP.

`Client` waits for its answers, `AsyncClient` lets an event loop wait. What was lost on the way is asked for again:
every verb may be, and claims and jobs carry a key by which the service knows that it has answered before.
May touch: HTTP, by httpx. Knows the words alone: neither the driver nor numpy is loaded.
"""

__all__ = ["asynchronous", "synchronous"]
