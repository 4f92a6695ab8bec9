"""A guide for Neo4j Browser: HTML for `:play`, AsciiDoc for the `:guide` of later Browsers, a style, and favourites.

It is made from the questions and the dictionary, and has no crawled data. `GuideServer` serves it on loopback, and
admits only pages of Browser's origin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from graphbrain.analyst.dictionary import NODES
from graphbrain.analyst.questions import GROUPS, Question, question, questions

__all__ = ["PATH", "GuideServer", "files"]

STYLE = """\
node { diameter: 50px; color: #A5ABB6; border-color: #9AA1AC; border-width: 2px; text-color-internal: #FFFFFF;
  font-size: 10px; }
node.Page { color: #24618E; border-color: #17415F; text-color-internal: #FFFFFF; caption: '{name}'; diameter: 60px; }
node.Host { color: #B4552D; border-color: #7E3A1E; text-color-internal: #FFFFFF; caption: '{name}'; diameter: 80px; }
node.Hour { color: #5C6B2F; border-color: #3F4A20; text-color-internal: #FFFFFF; caption: '{pages}'; }
node.Brain { color: #6B3F7A; border-color: #4A2B55; text-color-internal: #FFFFFF; caption: '{name}'; }
relationship { color: #A5ABB6; shaft-width: 1px; font-size: 8px; padding: 3px; text-color-external: #000000;
  text-color-internal: #FFFFFF; caption: '<type>'; }
relationship.LINKS { color: #8A93A0; shaft-width: 1px; caption: ''; }
relationship.REDIRECTS_TO { color: #B4552D; shaft-width: 3px; caption: 'redirects to'; }
relationship.LEADS_TO { color: #D9825B; shaft-width: 2px; caption: 'leads to'; }
relationship.SPELLS { color: #C9A227; shaft-width: 1px; caption: 'spells'; }
"""

INTRO = (
    "This is the brain of a web crawler. A page is a node (:Page), a link between pages is [:LINKS], a host is a "
    "(:Host), whose name is the property host of its pages. Click a query to put it into the editor, then run it; "
    "change its numbers as you like. If a line with :param precedes a query, run that first: it names the page or "
    "host, and with an empty text the question takes one by itself."
)
WARNING = (
    "Only read. Neo4j Community cannot keep a user from writing, and a write by hand breaks the accounts from which "
    "scores follow; 'graphbrain audit' would find it. The command 'graphbrain ask' asks the same questions in "
    "transactions that cannot write."
)
PATH = (
    ("first-links", "A graph: the seeds in the middle, and what they link to. Rows without a graph: choose its view."),
    ("states", "A row for each state. Many frontier pages: the crawl is young, and orphans may be none."),
    ("hosts-and-states", "The largest hosts first. One with many outside pages is known by links alone."),
    ("top-authorities", "The best pages. Take the url of one that surprises you to the next three questions."),
    ("who-pays", "The pages that link to it, with what each pays. A single payer with most of it: look at that page."),
    ("anchors", "What others call it. One text from one host is a menu."),
    ("how-found", "A path from a seed. No row: no links lead there, as to a page that a sitemap names."),
    ("broken-pages", "What fails, the most linked first. Take the host of a page in linked_from to the next question."),
    ("broken-links", "The pages to mend, with the address that each names. Give the host by the line with :param."),
    ("links-to-redirects", "What else these pages should name. The column to is what to write there."),
    ("canonical-conflicts", "Pages that contradict themselves. A problem that is empty is none."),
    ("duplicates", "Contents at several addresses. The first url is the best one; the others could redirect to it."),
)
"""The tour through the questions. Each has words about its answer, and about the value that the next one needs."""
FIRST = "first-links"
"""The question to begin with."""


class _Entry(NamedTuple):
    """A question in the guide: its title, its words, and the texts to run."""

    title: str
    words: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Slide:
    """One page of the guide: words, questions, and a table."""

    title: str
    words: tuple[str, ...] = ()
    questions: tuple[_Entry, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def _slides() -> list[_Slide]:
    # Begin with an introduction, the first question, and a tour.
    first = _Slide("What is in here", (INTRO, WARNING), (_described(question(FIRST)),))
    way = _Slide(
        "A way through",
        ("Twelve questions, one after the other. What a line with :param asks for is in the answer before.",),
        tuple(
            _Entry(f"{number}. {question(name).title}", expected, question(name).steps())
            for number, (name, expected) in enumerate(PATH, 1)
        ),
    )
    # Add a slide for each topic, and one for the properties of each kind of node.
    topics = [
        _Slide(
            group,
            (),
            tuple(map(_described, (each for each in questions() if each.group == group and each.name != FIRST))),
        )
        for group in GROUPS
    ]
    tables = [
        _Slide(
            f"Properties of {label}" if label == "links" else f"Properties of a (:{label})",
            ("Absent is as not known, or as false.",),
            head=("property", "unit", "meaning"),
            rows=tuple((name, unit, meaning) for name, (unit, meaning) in sorted(table.items())),
        )
        for label, table in NODES.items()
    ]
    return [first, way, *topics, *tables]


def _described(wanted: Question) -> _Entry:
    cost = f" It reads {wanted.cost}." if wanted.cost else ""
    how = "" if wanted.cypher else f" Ask it on the command line: graphbrain ask {wanted.name}"
    return _Entry(wanted.title, f"{wanted.reading}{cost}{how}", wanted.steps())


def files() -> dict[str, tuple[str, str]]:
    """Return the name of each file of the guide → its content type and its text."""
    slides = _slides()
    by_name = {
        "guide.html": ("text/html; charset=utf-8", _html(slides)),
        "guide.adoc": ("text/plain; charset=utf-8", _asciidoc(slides)),
        "style.grass": ("text/plain; charset=utf-8", STYLE),
    }
    for each in questions():
        if each.cypher:
            *params, query = each.steps()
            before = "".join(f"// Run this line first, alone: {line}\n" for line in params)
            words = f"// {each.title}\n// {each.reading}\n{before}{query}\n"
            by_name[f"favourites/{each.name}.cypher"] = ("text/plain; charset=utf-8", words)
    return by_name


def _html(slides: Iterable[_Slide]) -> str:
    """Return slides of a carousel, in the form that `:play` of the legacy interface shows."""
    parts = []
    for slide in slides:
        # Write the text and the questions.
        body = "".join(f"<p>{_marked(words)}</p>" for words in slide.words)
        for title, how, steps in slide.questions:
            code = "".join(f'<pre class="pre-scrollable code runnable">{_code(step)}</pre>' for step in steps)
            body += f"<h4>{escape(title)}</h4><p>{_marked(how)}</p><figure>{code}</figure>"
        if slide.rows:
            head = "".join(f"<th>{escape(cell)}</th>" for cell in slide.head)
            # Browser shows cells without gaps, and accepts no style in a guide: spaces keep them apart.
            apart = [[*(f"{cell}  ".replace(" ", "\u00a0") for cell in row[:-1]), *row[-1:]] for row in slide.rows]
            rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in apart)
            body += f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        parts.append(
            f'<slide class="row-fluid"><div class="col-sm-12"><h3>{escape(slide.title)}</h3>{body}</div></slide>'
        )
    deck = f'<carousel class="deck container-fluid">{"".join(parts)}</carousel>'
    return f'<article class="guide"><title>A crawl, asked</title>{deck}</article>\n'


def _code(query: str) -> str:
    """Return the query escaped, with each equals sign as a character reference.

    Browser removes from the page's source everything that looks like an event handler, such as ` on.host = payee`.
    """
    return escape(query).replace("=", "&#61;")


def _marked(words: str) -> str:
    """Return the words escaped, with the parts between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words, quote=False))


def _asciidoc(slides: Iterable[_Slide]) -> str:
    """Return sections, in the form that `:guide` of later Browsers shows."""
    parts = ["= A crawl, asked\n"]
    for slide in slides:
        parts.append(f"== {slide.title}\n")
        parts += [f"{_plain(words)}\n" for words in slide.words]
        for title, how, steps in slide.questions:
            parts.append(f"*{title}*\n\n{_plain(how)}\n")
            parts += [f"[source,cypher]\n----\n{step}\n----\n" for step in steps]
        if slide.rows:
            rows = "".join("\n|" + " |".join(cell.replace("|", "\\|") for cell in row) for row in slide.rows)
            parts.append(f'[options="header"]\n|===\n|{" |".join(slide.head)}\n{rows}\n|===\n')
    return "\n".join(parts)


def _plain(words: str) -> str:
    """Return the words with all markup escaped, unless there are backticks in them."""
    return re.sub(r"(?<!`)([\[\]{}*_#^~+<>])(?!`)", r"\\\1", words) if "`" not in words else words


class GuideServer(ThreadingHTTPServer):
    """The read-only server of the guide on 127.0.0.1. Its CORS headers admit pages of `origins`."""

    daemon_threads = True

    def __init__(self, port: int, origins: Iterable[str], given: Mapping[str, tuple[str, str]]) -> None:
        self.origins, self.given = frozenset(origins), dict(given)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        """Return the server's URL, with the host name that Browser's list of hosts has."""
        return f"http://localhost:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: GuideServer

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_OPTIONS(self) -> None:
        self.send_response(204)
        self._allow()
        self.send_header("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.end_headers()

    def _answer(self, body: bool) -> None:
        file = self.server.given.get(self.path.split("?")[0].lstrip("/"))
        kind, text = file or ("text/plain; charset=utf-8", "There is no such page.\n")
        sent = text.encode()
        self.send_response(200 if file else 404)
        self._allow()
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if body:
            self.wfile.write(sent)

    def _allow(self) -> None:
        """Send CORS headers that admit the requesting page, if its origin is one of `origins`."""
        origin = self.headers.get("Origin")
        self.send_header("Vary", "Origin")
        if origin in self.server.origins:
            self.send_header("Access-Control-Allow-Origin", origin)
            self.send_header("Access-Control-Allow-Private-Network", "true")

    def log_message(self, *_: Any) -> None:
        """Suppress the log line that http.server would write to stderr."""
