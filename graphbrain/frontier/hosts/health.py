"""The model of health: whether a page or its host is to blame for a failed request, and the waits that follow.

An *attempt* is one request of a page. It is `well` (2xx, 3xx, and all 4xx but those below), `refused` (429, 503),
`broken` (other 5xx; 408, 421, 423, 425), `silent` (time-out, connection refused or reset, DNS, TLS), or `none`: the
crawler did not send the request, or could not understand the answer. An attempt that is `none` shows nothing about the
host.

A *stretch* is a time in which every attempt at a host failed. It begins with the first failure after a well attempt and
ends with the next well attempt. After a silence of `dead_after` events, a failure with an answer also ends the stretch
and begins another one. If no request was sent for much longer than the waits below, the crawl was at rest, and the
stretch counts as shorter (`counted_from`). Failures of requests that were under way together are one *event*. A host is
*doubted* from the first event of a stretch on, and *ill* from event number `dead_after` on.

The blame. A page itself is to blame if it failed before, and its host has answered well to another page since. It is to
blame until it is well again, and its host is not doubted because of it. Any other failure counts for the stretch of the
host.
While the host is ill, no page is to blame: pages that fail wait only for the host, and are due when it answers. If one
of them is well then, the host was to blame and not its pages. So no failure before that time (`recovered_at`) counts
against a page, or for the time for which it has been failing, unless the page was to blame already.

The waits, where f is the time for which the page or the host has been failing:

* a page whose host is not ill waits `page_wait(f)`: f, at least a minute, at most four weeks;
* an ill host is probed, one page at a time, after `probe_wait(f)`: a sixth of f, at least 15 seconds, at most a day; at
  least a minute if all its pages have been tried;
* a parked page is looked at again after `look_wait(f)`: f, at least three days, at most half a year.

So a page or host that was ill for a time f, and is well again, gets a request within about f.
"""

from __future__ import annotations

import random
from typing import Literal, cast, get_args

__all__ = [
    "ABANDONED_AFTER",
    "DAY",
    "FIRST_LOOK",
    "FIRST_PROBE",
    "NOT_MODIFIED",
    "PAGE_FAULTS",
    "PASSING",
    "REFUSING",
    "SOONEST",
    "Kind",
    "PageFault",
    "counted_from",
    "crawl_patience",
    "kind_of",
    "look_wait",
    "missing_wait",
    "page_fault",
    "page_wait",
    "probe_wait",
]

Kind = Literal["well", "refused", "broken", "silent", "none"]
PageFault = Literal[
    "refused",
    "broken",
    "silent",
    "missing",
    "nowhere",
    "circles",
    "not_modified",
    "not_sent",
    "not_understood",
    "bad_report",
]
PAGE_FAULTS: tuple[PageFault, ...] = get_args(PageFault)
"""The kinds of failure of a page's last visit, as the page stores them:

* `refused`, `broken`, `silent`: the kind of the attempt;
* `missing`: the server answered another 4xx;
* `nowhere`: a redirect leads to no URL, or temporary ones lead in a circle; the page waits like a missing one;
* `circles`: a redirect leads back to the page itself;
* `not_modified`: the server answered 304, and the page had never been fetched;
* `not_sent`: the crawler did not send the request;
* `not_understood`: the crawler could not read the answer, or reported one below 300 as a failure;
* `bad_report`: the report itself was refused, so nothing is known of the answer.
"""

NOT_SENT: PageFault = "not_sent"
"""The fault of the crawler itself: it counts as no failure of the page, and no question lists the page as failing."""
REFUSING = frozenset({429, 503})
"""The statuses by which a host asks for fewer requests."""
NOT_MODIFIED = 304
PASSING = frozenset({408, 421, 423, 425})
"""The client errors that concern the request, the connection or the moment, not the page (RFC 9110, 4918, 8470)."""

MINUTE, DAY = 60.0, 86_400.0
FIRST_WAIT, LONGEST_WAIT = MINUTE, 28 * DAY
FIRST_PROBE, LONGEST_PROBE, PROBE_SHARE = 15.0, DAY, 1 / 6
FIRST_RETRY = MINUTE
"""The least wait between probes if all pages of the host have been tried: none of them may be well."""
SOONEST = 30.0
"""The least wait in seconds before a page is tried again, also by a probe."""
FIRST_LOOK, LONGEST_LOOK = 3 * DAY, 180 * DAY
GROWTH, GAP = 3.0, 10 * MINUTE
"""The time since the last event counts as at most `GROWTH` times the length of the stretch, plus `GAP` seconds."""
SPREAD = 0.25
"""The share by which waits of pages vary at random, so that pages that failed together are not due together."""
ABANDONED_AFTER = 6 * 3_600.0
"""Seconds of failures after which a crawl does not wait for a host any more."""


def kind_of(status: int | None, fault: str | None = None) -> Kind:
    """Return the kind of an attempt by the status of its answer; without one, by the fault in the report."""
    if status is None:
        return "silent" if fault in (None, "silent") else "none"
    if status in REFUSING:
        return "refused"
    return "broken" if status >= 500 or status in PASSING else "well"


def page_fault(kind: Kind, status: int | None, named: str | None = None) -> PageFault:
    """Return the fault of a failed visit, unless it was a 4xx of the page or a report that was refused.

    `kind`: the kind of the attempt. `named`: the fault that the crawler reports if there is no status.
    """
    if kind in ("refused", "broken", "silent"):
        return cast(PageFault, kind)
    if status is None:
        return NOT_SENT if named == NOT_SENT else "not_understood"
    return "not_modified" if status == NOT_MODIFIED else "not_understood" if status < 300 else "circles"


def page_wait(failing: float) -> float:
    """Return the seconds for which a page waits that has been failing for `failing` seconds. Its host was well."""
    return _spread(min(max(failing, FIRST_WAIT), LONGEST_WAIT))


def missing_wait(errors: int) -> float:
    """Return the seconds for which a page waits after it was missing `errors` times in a row: 1, 4, 16, … 180 days."""
    return min(DAY * 4.0 ** min(max(errors - 1, 0), 30), 180 * DAY)


def counted_from(since: float, last: float, now: float) -> float:
    """Return the time from which on a stretch counts, if a request fails now: a pause of the crawl is no illness.

    Args:
        since: The time of the first event of the stretch.
        last: The time of its last event until now.
        now: Epoch seconds.
    """
    return max(since, now - GROWTH * (last - since) - GAP)


def probe_wait(failing: float, *, tried_all: bool = False) -> float:
    """Return the seconds between two probes of a host that has been failing for `failing` seconds.

    `tried_all`: True if all its pages have been tried.
    """
    return min(max(failing * PROBE_SHARE, FIRST_RETRY if tried_all else FIRST_PROBE), LONGEST_PROBE)


def crawl_patience(worked: float) -> float:
    """Return how long a crawl waits for a well answer when only ill hosts have pages left.

    While probes come at their fastest, the next one is near. Later the wait between probes is a share of the time for
    which the host has failed. The crawl waits for the same share of the time that it has worked.

    Args:
        worked: Seconds from the beginning of the crawl to its last well answer.

    Returns:
        Seconds since that answer.
    """
    return max(FIRST_PROBE / PROBE_SHARE, worked * PROBE_SHARE)


def look_wait(failing: float) -> float:
    """Return the seconds after which a parked page is looked at again that has been failing for `failing` seconds."""
    return _spread(min(max(failing, FIRST_LOOK), LONGEST_LOOK))


def _spread(seconds: float) -> float:
    return seconds * random.uniform(1.0 - SPREAD, 1.0 + SPREAD)
