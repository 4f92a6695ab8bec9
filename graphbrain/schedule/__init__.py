"""Formulas of revisits: change rates and their tests, the value of a visit, lanes of the queue, sections of a site.

Most functions compute arrays from arrays; only `priors` reads the graph. `words` reads and hashes the words of a text.
`blocks` and `shingles` compare contents, and `section_noise` pools the differences of the pages of a section.
`fingerprints` decides whether a page has changed. `change_rate` estimates rates. `value` and `lanes` order the queue;
a lane is the part of a queue in which pages of about the same value wait. `optimal_revisits` computes the exact
optimum, for comparison. `sections` has the formulas that divide a site into sections; the transactions are in
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
    "parts",
    "priors",
    "section_noise",
    "sections",
    "shingles",
    "value",
    "words",
]
