"""The table of the commands: the module of each, and the line of `graphbrain --help` about it.

A module is imported when one of its commands is used. A start of `graphbrain` therefore imports one of them, and
`graphbrain --help` none. A contract test compares the table with the commands. A command that only passes its arguments
to a verb and prints the answer is described here, and made by `plain`.

The laboratory is a distribution of its own, in lab/. Its table is read where it is installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping, MutableMapping
from typing import NamedTuple

import click

from graphbrain.cli.common import Plain

__all__ = ["LABORATORY", "SECTIONS", "CommandsOnUse", "Entry"]

LABORATORY = ("bench", "precision", "simulate", "replay", "hammer")
"""The commands that the laboratory adds."""


class Entry(NamedTuple):
    """A command of the table.

    Attributes:
        module: The module whose `COMMANDS` has it.
        summary: The first paragraph of its help.
        package: The package of the module.
    """

    module: str
    summary: str
    package: str = "graphbrain.cli"


def _checks_sentence(count: int, _: object) -> str:
    by = ", by crawlers that claim the kind 'link', as 'graphbrain crawl' does" if count else ""
    return f"{count:,} {'URL' if count == 1 else 'URLs'} outside the scope will be checked{by}."


_LOOKS = {"auto_tend": False}


def _laboratory() -> dict[str, dict[str, Entry]]:
    """Return the section of the laboratory's commands, where it is installed."""
    if importlib.util.find_spec("graphbrain_lab") is None:
        return {}
    table = importlib.import_module("graphbrain_lab.commands").COMMANDS
    entries = {name: Entry(module, summary, "graphbrain_lab.cli") for name, (module, summary) in table.items()}
    return {"Laboratory": entries}


SECTIONS: Mapping[str, Mapping[str, Entry | Plain]] = {
    "Crawl": {
        "demo": Entry("demo", "Crawl a small generated web, here and now."),
        "crawl": Entry("crawling", "Crawl sites, beginning at URLs."),
        "seed": Entry("crawl", "Name the pages where the crawl begins."),
        "hint": Entry("crawl", "Name pages that have changed."),
        "next": Entry("claims", "Claim up to N pages to fetch (10 unless given)."),
        "report": Entry("claims", "Report what was fetched."),
        "renew": Entry("claims", "Hold claims longer."),
        "give-back": Entry("claims", "Return claims unfetched."),
        "work": Entry("crawl", "Run worker processes that keep the accounts."),
        "tend": Entry("crawl", "Keep the accounts until they are settled."),
        "import": Entry("crawl", "Fill an empty brain from files."),
    },
    "Archives of a crawl": {
        "wacz": Entry("archiving", "Pack the WARC files of a directory into one WACZ file."),
        "mirror": Entry("archiving", "Write a mirror of WARC files that opens from the disk."),
    },
    "Look at the crawl": {
        "top": Entry("look", "List the N best pages (10 unless given)."),
        "page": Entry("look", "Show all that is known of one page, or set a value of it."),
        "links": Entry("look", "List a page's links, both ways."),
        "path": Entry("look", "Show a shortest way along links from one page to another."),
        "find": Entry("look", "Find pages whose URL contains TEXT."),
        "stats": Plain("Show the crawl in figures.", table="stats_sheet", opened=_LOOKS),
        "audit": Entry("look", "Check that the accounts agree with the graph."),
        "ask": Entry("analyst", "Answer a question about the crawl."),
        "summary": Entry("analyst", "Write the crawl on one page, an HTML file."),
        "findings": Entry("analyst", "List what is wrong with pages and links, by what it wastes."),
        "browser": Entry("analyst", "Serve a guide for Neo4j Browser until Ctrl-C."),
        "dump": Entry("dump", "Write out pages or links."),
    },
    "Scores and revisits": {
        "rank": Entry("score", "Score all pages at once, and write the scores to them."),
        "settle": Entry("score", "Bring all accounts to their fixed point at once."),
        "spark": Entry("spark", "Compute scores of the whole graph on an Apache Spark cluster."),
        "now": Entry("correct", "Let pages be claimed before all others."),
        "check-links": Plain(
            """Let crawlers fetch the status of links that leave the scope.

            Crawlers that claim the kind 'link' ask each URL by HEAD, or by GET where its host does not allow HEAD.
            Nothing more is fetched of it. 'graphbrain ask broken-links' has those that fail.
            """,
            _checks_sentence,
        ),
    },
    "Hosts": {
        "hosts": Entry("hosts", "List the hosts in scope whose name contains TEXT."),
        "host": Entry("hosts", "Show a host, or set how all workers treat it."),
        "robots": Entry("hosts", "Obey a host's robots.txt."),
        "sections": Plain(
            """Show the sections of a host: what a fetch brings there.

            A section is a part of the host, by the form of its URLs; the sections are learned from visits. HARVEST is
            what a fetch is expected to bring that is new to the host, 0 to 1, FACTOR by how much new pages of the
            section count where the setting 'value' names harvest. All pages of the host are read.
            """,
            table="sections_table",
            opened=_LOOKS,
            operands={"name": "HOST"},
        ),
    },
    "Corrections": {
        "link": Plain(
            "Add a link; the accounts are repaired.",
            lambda added, _: "1 link added." if added else "the link was there.",
            operands={"source": "FROM", "target": "TO"},
        ),
        "unlink": Plain(
            "Remove a link; the accounts are repaired. Exits 1 when there is none.",
            lambda removed, given: (
                "1 link removed." if removed else f"no link leads from {given['source']} to {given['target']}."
            ),
            fails=True,
            operands={"source": "FROM", "target": "TO"},
        ),
        "forget": Entry("correct", "Delete pages; the accounts are repaired."),
        "retry": Entry("correct", "Let pages that have failed wait again, at once."),
        "park": Entry("correct", "Give pages up: they are fetched no more."),
        "pause": Entry("correct", "Stop all claims until 'resume'."),
        "resume": Plain(
            "Allow claims again, after 'pause'.",
            lambda done, _: "pages can be claimed again." if done else "the brain was not paused.",
            opened={"auto_tend": False, "as_it_is": True},
        ),
    },
    "Settings of the brain": {
        "change": Entry("brain", "Change shared settings, for all who use the brain."),
        "settings": Entry("brain", "Show the settings in force, and where each comes from."),
        "engine": Entry("brain", "Show how accounts are kept, or change it."),
        "clear": Entry("brain", "Delete all pages, links and hosts."),
    },
    "Service and local server": {
        "serve": Entry("serve", "Serve the brain over HTTP to crawlers and analysts."),
        "console": Entry("serve", "Show the crawl in a browser on this machine, until Ctrl-C."),
        "token": Entry("serve", "Make, list and revoke the tokens of the service."),
        "server": Entry("server", "Run a Neo4j of one's own on this machine."),
        "schema": Entry("server", "Constraints and indexes of the database."),
    },
    **_laboratory(),
}
"""Section of the help → name → command, in the order of use."""


class CommandsOnUse(MutableMapping[str, click.Command]):
    """The commands by name. A command is imported when it is looked up; names, order and number need no import."""

    def __init__(self, entries: Mapping[str, Entry | Plain]) -> None:
        self._commands: dict[str, Entry | Plain | click.Command] = dict(entries)

    def __getitem__(self, name: str) -> click.Command:
        command = self._commands[name]
        if isinstance(command, Entry):
            module = importlib.import_module(f"{command.package}.{command.module}")
            command = self._commands[name] = {each.name: each for each in module.COMMANDS}[name]
        if isinstance(command, Plain):
            from graphbrain.cli import plain  # it loads the brain

            command = self._commands[name] = plain.command(name, command)
        return command

    def __contains__(self, name: object) -> bool:
        return name in self._commands

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._commands[name] = command

    def __delitem__(self, name: str) -> None:
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)
