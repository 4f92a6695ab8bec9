"""What users read, as one text: README.md and the pages of docs/."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
TEXT = "\n\n## \n\n".join([README, *(text for name, text in PAGES.items() if name != "index.md")])
"""The pages, apart from each other by an empty heading, so that a section ends with its page."""
