"""The table of the laboratory's commands, which `graphbrain --help` reads: it imports nothing."""

__all__ = ["COMMANDS"]

COMMANDS = {
    "bench": ("benches", "Measure this machine."),
    "precision": ("precision", "Compare live scores with exact ones."),
    "simulate": ("simulate", "Compare revisit policies on invented or recorded changes."),
    "replay": ("replay", "Crawl a recorded crawl."),
    "hammer": ("hammer", "Try to lose a claim or a coin, and prove that none was."),
}
"""Name of a command → its module in `graphbrain_lab.cli`, and the first paragraph of its help, in the order of use."""
