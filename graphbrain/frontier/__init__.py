"""Pages on their way through the crawl: discovery, claims and leases, reports, politeness of hosts, corrections.

`discovery` creates pages, `sections` learns the sections of hosts, and `policy` holds the settings that all changes
obey. `hosts` has politeness and health: delays, budgets, robots.txt, and how long a failed page or host waits before
another attempt. `claims` grants leases, `reports` writes visits, and `corrections` has the other changes. A transaction
uses several of these modules, and takes its locks in one order: pages, resources, hosts, addresses.
May touch: statements on pages, sections, claims, resources, visits and hosts; links and cash through `scores`.
"""

__all__ = [
    "claims",
    "corrections",
    "discovery",
    "expected",
    "hosts",
    "notes",
    "policy",
    "reports",
    "section_factors",
    "sections",
]
