"""Changes of pages that are no visits: edits by hand, hints of change, and the choice anew of their queues.

May touch: statements on pages, links and hosts through their rooms.
"""

__all__ = ["aliases", "change_hints", "edits", "orphans", "put_right", "requeue"]
