"""Pages on their way through the crawl: discovery, claims and leases, reports, politeness of hosts, corrections.

`discovery` creates pages, `sections` learns of their sites, `policy` bundles the settings that all changes obey.
`hosts` is politeness and health: delays, budgets, robots.txt, and how long a failed page or host waits until it is
tried again. `claims` grants leases, `reports` writes visits, and `corrections` has the changes that are no visits. A
transaction passes through several of them, and takes its locks in one order: pages, resources, hosts, addresses.
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
