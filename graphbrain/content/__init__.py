"""Input from outside, read and checked: facts of a page, its topic, sitemaps and feeds, JSON lines, the scope.

`feeds` reads sitemaps, feeds and lists of URLs. `pagefacts` reads what a page states about itself, and `relevance`
compares a text with a topic. `wire` reads and writes JSON lines, `input_checks` checks what callers give,
`report_semantics` finds the meaning of a report, `retry_after` reads that header, and `scope` decides which URLs belong
to the crawl.
May touch: nothing; functions of bytes, text and values.
"""

__all__ = [
    "feeds",
    "input_checks",
    "pagefacts",
    "relevance",
    "report_semantics",
    "retry_after",
    "scope",
    "wire",
]
