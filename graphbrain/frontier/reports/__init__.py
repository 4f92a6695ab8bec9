"""Reports: from the checks of a visit to the writes of one transaction.

`report_intake` checks the form of a report before any transaction. `outcomes` accepts or refuses a visit by the lease
of its claim, and finds its outcome (with `schedule.fingerprints`, whether the page has changed). `report` writes a
batch of visits in one transaction, and `large_visits` writes a visit with too many links in several. `relink` writes
links and turns redirected pages into aliases. `visits` writes the result of a visit on its page, and the time of the
next one. `canonicals` and `facts` write what a page states about itself. `walls` recognises pages behind a login or
consent page.
May touch: statements on pages and visits; links and hosts through their rooms.
"""

__all__ = ["canonicals", "facts", "large_visits", "outcomes", "report", "report_intake"]
