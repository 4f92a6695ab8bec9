"""The model of health, from which all waits of hosts and pages follow: it decides who is to blame for a failed request.

An *attempt* is one request of a page. It is `well` (2xx, 3xx, and 4xx but those below), `refused` (429, 503), `broken`
(other 5xx; 408, 421, 423, 425), `silent` (time-out, connection refused or reset, DNS, TLS), or `none`: the crawler did
not send the request, or could not understand the answer. An attempt that is `none` shows nothing about the host.

A *stretch* is a time in which every attempt at a host failed. It begins with the first failure after a well attempt and
ends with the next well attempt. A silence of `dead_after` events ends with the first answer, too: a failure that is an
answer begins a new stretch. Where no request is made for much longer than the waits below, the crawl was at rest, and
the stretch counts as shorter (`counted_from`). Failures of requests that were under way together are one *event*. A
host is *doubted* from the first event of a stretch, and *ill* from event number `dead_after` on.

The blame. A page that failed before, and whose host was asked for another page since then and answered it well, is
itself to blame, now and for as long as it goes on failing: its host is not doubted for it. Any other failure counts for
the stretch of its host.
While the host is ill, no page is to blame: the pages that fail wait for the host alone, and are due when it answers.
When one of these is well, the host was ill in truth, and not its pages: no failure before that moment (`recovered_at`)
counts against a page, or for the time for which it has been failing, but for pages that were to blame already.

The waits, where f is the time for which the page or the host has been failing:

* a page whose host is not ill waits `page_wait(f)`: f, at least a minute, at most four weeks;
* an ill host is probed, a page at a time, after `probe_wait(f)`: a sixth of f, at least 15 seconds, at most a day;
  where all its pages have been tried, at least a minute;
* a parked page is looked at again after `look_wait(f)`: f, at least three days, at most half a year.

So a page or host that was ill for a time f and is well again is asked within about f.
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
"""The kinds of failure of a page's last visit, as they are kept on the page:

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
"""The fault that is the crawler's: no failure of the page is counted, and no question counts the page as failing."""
REFUSING = frozenset({429, 503})
"""The host asks to be asked less often."""
NOT_MODIFIED = 304
PASSING = frozenset({408, 421, 423, 425})
"""Client errors that speak of the request, the connection or the moment, not of the page (RFC 9110, 4918, 8470)."""

MINUTE, DAY = 60.0, 86_400.0
FIRST_WAIT, LONGEST_WAIT = MINUTE, 28 * DAY
FIRST_PROBE, LONGEST_PROBE, PROBE_SHARE = 15.0, DAY, 1 / 6
FIRST_RETRY = MINUTE
"""The first where all pages of the host have been tried: no page is left that may be well while others are not."""
SOONEST = 30.0
"""No page is tried again earlier, though its host be probed."""
FIRST_LOOK, LONGEST_LOOK = 3 * DAY, 180 * DAY
GROWTH, GAP = 3.0, 10 * MINUTE
"""A stretch grows by no more than this factor, and so many seconds, from one event to the next."""
SPREAD = 0.25
"""Waits of pages vary by this share, so that pages that failed together do not all come back together."""
ABANDONED_AFTER = 6 * 3_600.0
"""Seconds after which a crawl counts as finished without a host that has failed for so long."""


def kind_of(status: int | None, fault: str | None = None) -> Kind:
    """Return the kind of an attempt, by the status of its answer; without a status, by the fault that the crawler
    names."""
    if status is None:
        return "silent" if fault in (None, "silent") else "none"
    if status in REFUSING:
        return "refused"
    return "broken" if status >= 500 or status in PASSING else "well"


def page_fault(kind: Kind, status: int | None, named: str | None = None) -> PageFault:
    """Return the fault of a visit that was no 4xx of the page and whose report was not refused. `kind`: of the attempt;
    `named`: the fault that the crawler names where there is no status."""
    if kind in ("refused", "broken", "silent"):
        return cast(PageFault, kind)
    if status is None:
        return NOT_SENT if named == NOT_SENT else "not_understood"
    return "not_modified" if status == NOT_MODIFIED else "not_understood" if status < 300 else "circles"


def page_wait(failing: float) -> float:
    """Seconds for which a page waits that has been failing for so long while its host was well."""
    return _spread(min(max(failing, FIRST_WAIT), LONGEST_WAIT))


def missing_wait(errors: int) -> float:
    """Seconds for which a page waits that was missing so often in a row: a day, 4, 16, … 180."""
    return min(DAY * 4.0 ** min(max(errors - 1, 0), 30), 180 * DAY)


def counted_from(since: float, last: float, now: float) -> float:
    """Return the moment from which a stretch counts (epoch seconds) that is known to have lasted from `since` to
    `last`, if a request fails now: a stop of the crawl is no illness of the host."""
    return max(since, now - GROWTH * (last - since) - GAP)


def probe_wait(failing: float, *, tried_all: bool = False) -> float:
    """Seconds between two probes of a host that has been failing for so long. `tried_all`: all its pages have been."""
    return min(max(failing * PROBE_SHARE, FIRST_RETRY if tried_all else FIRST_PROBE), LONGEST_PROBE)


def crawl_patience(worked: float) -> float:
    """Return how long a crawl waits for a well answer when only ill hosts have pages left.

    For as long as probes come at their fastest, the next one is near. From then on a wait grows with the time for which
    the host has failed; the crawl spends the same share of the time that it has worked.

    Args:
        worked: Seconds from the beginning of the crawl to its last well answer.

    Returns:
        Seconds from that answer.
    """
    return max(FIRST_PROBE / PROBE_SHARE, worked * PROBE_SHARE)


def look_wait(failing: float) -> float:
    """Seconds after which a parked page that has been failing for so long is looked at again."""
    return _spread(min(max(failing, FIRST_LOOK), LONGEST_LOOK))


def _spread(seconds: float) -> float:
    return seconds * random.uniform(1.0 - SPREAD, 1.0 + SPREAD)
