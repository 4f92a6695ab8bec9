"""Changes of pages without a visit: edits by hand, hints of change, and moves to other queues.

`edits` changes and forgets pages by hand. `change_hints` makes pages due sooner. `requeue` moves pages to other queues
after a change of settings or scope. `aliases` turns aliases into pages, and moves links of aliases. `orphans` parks
pages, by hand or because no page links to them. `put_right` corrects times of a clock that was ahead.
May touch: statements on pages, links and hosts through their rooms.
"""

__all__ = ["aliases", "change_hints", "edits", "orphans", "put_right", "requeue"]
