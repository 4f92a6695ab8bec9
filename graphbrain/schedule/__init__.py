"""Formulas of revisits: change rates and their tests, the value of a visit, lanes of the queue, sections of a site.

Functions over arrays, and the two tables that they keep on the graph (`priors`). `words` reads and hashes the words of
a text, `blocks` and `shingles` compare contents, `section_noise` pools what differs over the pages of a section, and
`fingerprints` decides whether a page has changed. `change_rate` estimates rates; `value` and `lanes` order the queue;
`optimal_revisits` is the exact optimum, for comparison. A lane is the part of a queue in which pages of about the same
value wait. `sections` has the formulas by which the parts of a site are learned; the transactions are in
`frontier.sections`.
May touch: statements on priors. Knows nothing of hosts, accounts or claims.
"""

__all__ = [
    "blocks",
    "change_rate",
    "fingerprints",
    "lanes",
    "novelty",
    "optimal_revisits",
    "priors",
    "section_noise",
    "sections",
    "shingles",
    "value",
    "words",
]
