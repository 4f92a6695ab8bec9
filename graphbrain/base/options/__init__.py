"""The declarations of verbs and of their options, which the command line and the service share.

`verbs` declares a verb beside its method of `Brain`. `pages`, `hosts` and `scores` have the ranges of options, and what
several of them are together.
May touch: nothing.
"""

__all__ = ["hosts", "pages", "scores", "verbs"]
