"""The options of verbs, each declared once, in a frozen class that all rooms, the command line and the service share.

`declare` describes an option, `verbs` a verb; the other modules have a class for each group of verbs that commands
have, too. The command line makes its options from these classes (`cli.declared`), and the service its requests from the
verbs (`service.declared`). A contract test compares the signatures of `Brain` with the classes.
May touch: nothing.
"""

__all__ = ["checks", "declare", "dumps", "hosts", "pages", "scores", "upkeep", "verbs"]
