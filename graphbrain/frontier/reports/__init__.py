"""Reports: from the checks of a visit to the writes of one transaction.

`report_intake` checks a report, `outcomes` decides what becomes of a visit, `report` writes a batch in one transaction,
`large_visits` writes a visit with too many links in several.
May touch: statements on pages and visits; links and hosts through their rooms.
"""

__all__ = ["canonicals", "facts", "large_visits", "outcomes", "report", "report_intake"]
