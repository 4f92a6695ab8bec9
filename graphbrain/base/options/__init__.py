"""The options of verbs, each declared once, in a frozen class that all rooms, the command line and the service share.

`declare` describes an option; the other modules have a class for each group of verbs. The command line makes its
options from these classes (`cli.declared`), and the service its requests (`service.declared`). The signatures of
`Brain` and of the clients are written by hand, and a contract test compares them with the classes.
May touch: nothing.
"""

__all__ = ["checks", "declare", "dumps", "hosts", "pages", "scores", "upkeep", "verbs"]
