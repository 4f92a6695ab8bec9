"""Pages: how they come in, their sections and URL variants, notes on them, and the policy that all changes obey.

May touch: statements on pages and sections; links and hosts through their rooms.
"""

__all__ = ["discovery", "expected", "notes", "policy", "section_factors", "sections", "url_variants"]
