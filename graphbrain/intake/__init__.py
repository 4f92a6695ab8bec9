"""Input from outside: its checks, the meaning of reports, the scope of a crawl, and JSON lines.

May touch: nothing.
"""

__all__ = ["input_checks", "report_semantics", "retry_after", "scope", "wire"]
