"""Reports: from the checks of a visit to the writes of one transaction.

`report_intake` checks the form of a report before any transaction. `outcomes` accepts or refuses a visit by the lease
of its claim, and decides what becomes of it (by `schedule.fingerprints`, whether the page has changed), `report` writes
a batch in one transaction, `large_visits` writes a visit with too many links in several. `relink` writes links and
turns pages that are redirected into aliases, `visits` writes what a visit leaves on its page and when the next one is
due, `canonicals` and `facts` what the page states about itself, `walls` recognises pages behind a wall.
May touch: statements on pages and visits; links and hosts through their rooms.
"""

__all__ = ["canonicals", "facts", "large_visits", "outcomes", "report", "report_intake"]
