"""The facts that a page states about itself, by the short name that users import. `graphbrain.content.pagefacts` has
the code."""

from graphbrain.content.pagefacts import HEADERS, PageFacts

__all__ = ["HEADERS", "PageFacts"]
