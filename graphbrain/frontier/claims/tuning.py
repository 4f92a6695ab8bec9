"""The constants that decide how far one call of `next_urls` looks, in one place.

A call wants n pages that may be fetched now. Four costs compete: the rows that a statement reads, the pages and hosts
that a transaction locks, the number of transactions, and the order in which pages are claimed. Each group below bounds
one step of a call. `brain.claim` runs the steps, `frontier.claims.taking` is one transaction for all sources, and
`frontier.claims.candidates` reads the queues. The bounds keep a call short while millions of pages wait. They do not
decide which pages may be claimed: what one call does not reach, a later call does.

Modules read them as `tuning.NAME`, so that a test can replace one.
"""

from __future__ import annotations

# ---------------------------------------------------------------- 1. which calls share a round (brain.claim)

COMBINED = 300
"""Pages that the calls of one round may want together. A larger transaction holds its locks for longer."""
ALONE = 100
"""A call for at least this many pages is a round of its own: it would delay the small calls beside it."""

# ---------------------------------------------------------------- 2. fixed shares of a call (brain.claim)

ALIAS_SHARE = 0.05
"""The part of all claims that goes to aliases whose targets are due for a check. They also get what the queues cannot
fill."""
RESOURCE_SHARE = 0.2
"""The part of the claims of calls that ask for sitemaps which goes to sitemaps. They also get what the queues cannot
fill. Of a host with pages in its queue they get the same part of its turns. A share, so that sitemaps that fail delay
no page for long."""
SOUGHT = 60.0
"""Seconds after which a call looks again whether the robots.txt of a host names other sitemaps."""
MOST_SOUGHT = 100_000
"""Hosts for which a process remembers when it last looked."""
TRIES_LUCK = 0.5
"""The first rounding of the share of pages that try demoted sections. A constant, and not a random number, so
that two crawls by one process differ less."""

# ---------------------------------------------------------------- 3. the end of a call (brain.claim)

ENOUGH = 0.8
"""The part of the wanted claims that ends a call that has met pages it could not have. To replace the rest, all
candidates would be read again, which takes as long as the first time."""
FAIR = 0.25
"""The part of the wanted claims that ends a call that has moved as many pages as it may. The next call moves more."""
WANTED_ROUNDS = 8
"""The transactions of one call for pages that `crawl_now` named. The next call continues."""
RIGHTING = 1.0
"""Seconds for which a call corrects the times that a clock wrote while it was ahead. Upkeep does the rest."""

# ---------------------------------------------------------------- 4. pages in the way of others (brain.claim)

BULK = 1_000
"""Pages that one transaction moves out of the front of the shared queue, because their hosts are not ready. It takes
tens of milliseconds."""
CLEARING = 0.8
"""Seconds after which a call leaves further moves to the next calls."""
BEYOND = (2_000, 30_000, 120_000)
"""Depths of the shared queue at which a call looks for claimable pages behind those in the way, one after another."""
MOST_PUT_BACK = 1_000
"""Pages that one call moves back because their sections were demoted, beside the candidates that it reads."""

# ---------------------------------------------------------------- 5. one transaction (claims)

FRONT_CLAIMS = 32
"""Pages of ready hosts that one transaction claims from the front of the shared queue at most."""
ALIASES_LOOKED_AT = 200
"""Due aliases that one transaction reads at least, and as many pages that `crawl_now` named."""
ALIASES_PUT_OFF = 50
"""The number of those whose hosts are not ready that are put off if they hide others behind them."""
PUT_OFF = 600.0
"""Seconds for which they are put off, times a random factor of 0.5 to 1.5."""

# ---------------------------------------------------------------- 6. which queues are read (candidates)

FAIR_SHARE = 0.25
"""The part of all places that goes to the hosts that have been ready longest, whatever the value of their pages.
Without it, hosts of poor pages would fill the list of ready hosts and hide the others."""
PLACES = 8
"""Failing hosts without a probe place that are offered to one transaction at most."""
TICK = 1e-3
"""Seconds by which a page may be claimed before it is due: the resolution of the times in the graph."""

# ---------------------------------------------------------------- 7. how deep a queue is read (candidates)
# A queue is a row of lanes; a range is some lanes of one queue that one index seek reads.

SHARED_LOOKS = 512
"""Ranges of the shared queue that a call reads at most."""
HOST_LOOKS = 4
"""Ranges of each host's own queue that a call reads at most."""
MANY = 256
"""With more ranges than this, a call first reads a few of each queue, which is enough to find one claimable page."""
FEW_RANGES = 4
"""The number of these first ranges."""
FEW = 32
"""Pages that are read of a range that had no page when it was last read. If there are fewer, all its lanes are known
afterwards."""
DEEP_LANES = 8
"""The best lanes that are read as deep as the call is large, if they may still have a page for it at that depth."""
DEEPER = 16
"""The depth to which the other lanes are read."""
MOST_ROUNDS = 32
"""Reads of the shared queue in one search for pages in order of their value."""
FRONT_LANES = 64
"""Lanes of revisits that are read for the front of the shared queue."""
RETRIES_READ = 8
"""Pages that are read of a queue of retries."""
RETRIES_DEEP = 500
"""Pages that are read of it if none of the first is due: a page may have failed in a visit before it was due."""
