"""Changes of pages that are no visits: edits by hand, hints of change, and the choice anew of their queues.

`edits` forgets and changes pages by hand, `change_hints` brings visits forward, `requeue` files pages anew after a
change of settings or scope, `aliases` makes pages of aliases that are none any more, `orphans` parks pages, by hand or
because nothing links to them, `put_right` corrects times of a clock that was ahead.
May touch: statements on pages, links and hosts through their rooms.
"""

__all__ = ["aliases", "change_hints", "edits", "orphans", "put_right", "requeue"]
