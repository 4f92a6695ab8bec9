"""A web with planted faults on loopback, as a proxy, and what a crawl of it must know of each page.

`PAGES` are the answers by URL; `SECOND` those that are others in the second phase. `FACTS` is what the graph must have
then of what pages say of themselves. All but `url` is left to the crawler. A host of its own has copies of several
kinds, beside pages that share much and are no copies (`COPIED`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.acceptance.listening import listening

HOST = "http://planted.example"
SLOW = "http://slow.example"
SLOWNESS = 0.7
"""Seconds that the slow host takes for each answer."""
COPIES = "http://copies.example"


@dataclass(frozen=True)
class Reply:
    """An answer. `headers`: beside the content type."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "text/html; charset=utf-8"


def html(head: str = "", *links: str, title: str | None = "A title", text: str = "") -> Reply:
    """A page whose links have their own addresses as texts."""
    named = "" if title is None else f"<title>{title}</title>"
    anchors = " ".join(f'<a href="{link}">to {link}</a>' for link in links)
    return Reply(
        body=f"<!doctype html><html lang=en><head>{named}{head}</head><body><p>{text}</p>{anchors}</body></html>"
    )


def robots(content: str, name: str = "robots") -> str:
    return f'<meta name="{name}" content="{content}">'


MISSING = "Sorry, the page that you are looking for does not exist. Go to the home page, or search for what you want."
SAID: dict[str, tuple[Reply, dict[str, Any]]] = {
    "robots/none": (html("<META NAME=ROBOTS CONTENT=NONE>"), {"noindex": True, "nofollow": True}),
    "robots/nofollow": (html(robots("nofollow"), "/final"), {"noindex": False, "nofollow": True}),
    "robots/nofollow-header": (
        Reply(body='<title>A</title><a href="/final">s</a>', headers={"X-Robots-Tag": "nofollow"}),
        {"nofollow": True},
    ),
    "robots/image": (html(robots("max-image-preview:none")), {"noindex": False}),
    "robots/two": (html(robots("index") + robots("noindex")), {"noindex": True}),
    "robots/other": (html(robots("noindex", "googlebot")), {"noindex": False}),
    "robots/ours": (html(robots("noindex", "Graphbrain")), {"noindex": True}),
    "robots/header": (Reply(body="<title>A title</title>", headers={"X-Robots-Tag": "noindex"}), {"noindex": True}),
    "robots/agent": (Reply(body="<title>A</title>", headers={"X-Robots-Tag": "googlebot: none"}), {"noindex": False}),
    "robots/pdf": (
        Reply(body="%PDF", headers={"X-Robots-Tag": "NONE"}, kind="application/pdf"),
        {"noindex": True, "title": None, "content_type": "application/pdf"},
    ),
    "canonical/case": (html('<link rel="Canonical" href="/final">'), {"canonical": f"{HOST}/final"}),
    "canonical/header": (
        Reply(body="<title>A title</title>", headers={"Link": '</final>; rel="canonical"'}),
        {"canonical": f"{HOST}/final"},
    ),
    "canonical/base": (html('<base href="/dir/"><link rel=canonical href=c>'), {"canonical": f"{HOST}/dir/c"}),
    "canonical/anchored": (
        Reply(body="<title>A title</title>", headers={"Link": '</final>; anchor="/way"; rel=canonical'}),
        {"canonical": None},
    ),
    "canonical/empty": (
        Reply(body="<title>A title</title>", headers={"Link": ", </final>; ; rel=canonical;"}),
        {"canonical": f"{HOST}/final"},
    ),
    "canonical/two": (
        html('<link rel=canonical href="/final"><link rel=canonical href="/">'),
        {"canonical": f"{HOST}/final", "canonicals": [f"head {HOST}/final", f"head {HOST}/"]},
    ),
    "canonical/against-header": (
        Reply(body="<title>A</title><link rel=canonical href=/final>", headers={"Link": "</>; rel=canonical"}),
        {"canonical": f"{HOST}/final", "canonicals": [f"head {HOST}/final", f"header {HOST}/"]},
    ),
    "canonical/body": (
        html("", text="<link rel=canonical href=/final>"),
        {"canonical": None, "canonicals": [f"body {HOST}/final"]},
    ),
    "canonical/no-host": (html('<link rel="canonical" href="http://">'), {"canonical": None}),
    "title/svg": (html("<svg><title>drawn</title></svg>", title=None), {"title": None}),
    "title/both": (html("", title="told", text="<svg><title>drawn</title></svg>"), {"title": "told"}),
    "texts": (
        html(
            '<title>B</title><meta name=description content="Of tea"><meta name=description content="Of coffee">',
            text="<h1>Tea <b>time</b></h1><h1>Coffee</h1>",
        ),
        {"titles": ["head A title", "head B"], "descriptions": ["Of tea", "Of coffee"], "h1": ["Tea time", "Coffee"]},
    ),
    "texts/none": (html("", text="one two three"), {"descriptions": [], "h1": [], "titles": None, "words": 5}),
    "hreflang": (
        Reply(
            body="<title>A</title><link rel=alternate hreflang=de href=/de>",
            headers={"Link": "</fr>; rel=alternate; hreflang=fr"},
        ),
        {"hreflang": [f"de {HOST}/de", f"fr {HOST}/fr"]},
    ),
    "loads": (
        html(
            "<link rel=stylesheet href=/s.css><script src=/s.js></script>",
            text="<img src=/a.png alt='A cat'><img src=/b.png alt><img src=/c.png><noscript><img src=/n.png></noscript>"
            "<form action=/search></form>",
        ),
        {
            "requisites": [
                f"style {HOST}/s.css",
                f"script {HOST}/s.js",
                f"image {HOST}/a.png A cat",
                f"image {HOST}/b.png ",
                f"image {HOST}/c.png",
                f"form {HOST}/search",
            ]
        },
    ),
    "typed": (
        html(
            '<script type="application/ld+json">{"@type": "Product"}</script>'
            '<script type="application/ld+json">{"@type": </script>',
            text="<div itemscope itemtype='https://schema.org/Event'></div><p typeof=Person></p>",
        ),
        {"structured": ["json-ld Product", "invalid json-ld", "microdata Event", "rdfa Person"]},
    ),
    "for-now": (Reply(302, headers={"Location": "/way"}), {"status": 302, "led_to": [f"{HOST}/way", f"{HOST}/final"],
                                                            "title": None, "canonical": None, "size": None}),
    "way": (Reply(307, headers={"Location": "/final"}), {"status": 307, "led_to": [f"{HOST}/final"], "title": None}),
    "final": (html('<link rel=canonical href="/final">', "/", title="Final"),
              {"title": "Final", "canonical": f"{HOST}/final", "led_to": None}),
    "refresh": (html('<meta http-equiv="Refresh" content="0; URL=/final">'), {"led_to": [f"{HOST}/final"]}),
    "refresh/self": (html('<meta http-equiv="refresh" content="0; url=/refresh/self">'), {"led_to": None}),
    "user": (Reply(302, headers={"Location": "http://ann:sesame@planted.example/final#part"}),
             {"status": 302, "led_to": [f"{HOST}/final"], "title": None}),
    **{f"far/{step}": (Reply(code, headers={"Location": f"/far/{step + 1}" if step < 5 else "/final"}),
                       {"status": code, "title": None, "led_to":
                        [*(f"{HOST}/far/{later}" for later in range(step + 1, 6)), f"{HOST}/final"]})
       for step, code in ((1, 303), (2, 307), (3, 302), (4, 303), (5, 307))},
    "far/0": (Reply(303, headers={"Location": "/far/1"}), {"status": 303, "led_to": [f"{HOST}/far/1"], "fault": None}),
    "ring/1": (Reply(307, headers={"Location": "/ring/2"}), {"status": 307, "led_to": [f"{HOST}/ring/2"]}),
    "ring/2": (Reply(302, headers={"Location": "/ring/1"}), {"status": 302, "led_to": [f"{HOST}/ring/1"]}),
    "to-gone": (Reply(302, headers={"Location": "/gone/0"}), {"status": 302, "led_to": [f"{HOST}/gone/0"]}),
    "flickers": (html("", title="Flickers"), {"title": "Flickers"}),
    "soft": (html("", title="Soft", text=MISSING), {"title": "Soft"}),
}  # fmt: skip
"""Path → answer, and what must be known of the page then."""
LEADING = ("ring/1", "ring/2", "to-gone")
"""Pages that lead in a circle, or to one that is gone: links to them are broken."""
GONE = ("gone/0", "gone/1", "gone/old.pdf")
LOST: dict[str, tuple[Reply, dict[str, Any]]] = {
    "lost/mail": (Reply(302, headers={"Location": "mailto:ann@planted.example"}), {"status": 302, "fault": "nowhere"}),
    "lost/mail-for-good": (Reply(301, headers={"Location": "mailto:ann@planted.example"}),
                           {"status": 301, "fault": "nowhere"}),
    "lost/no-host": (Reply(301, headers={"Location": "http://"}), {"status": 301, "fault": "nowhere"}),
    "lost/itself": (Reply(301, headers={"Location": "/lost/itself"}), {"status": 301, "fault": "circles"}),
}  # fmt: skip
"""Pages that lead nowhere: path → answer, and what must be known then."""


def prose(name: str, words: int = 300) -> list[str]:
    """Words of a small vocabulary in an order of their own, so that all pages share words and few share pairs."""
    dice = random.Random(name)
    vocabulary = ["".join(dice.choices("aeioubdfgklmnprst", k=6)) for _ in range(60)]
    return random.Random(f"the order of {name}").choices([*vocabulary, *VOCABULARY], k=words)


def copy(text: list[str], head: str = "", wrap: str = "<p>{}</p>") -> Reply:
    return html(head, "/", title="Copies", text=wrap.format(" ".join(text)))


def changed(text: list[str], *places: int) -> list[str]:
    return [f"other{place}" if place in places else word for place, word in enumerate(text)]


VOCABULARY = ("the", "crawl", "of", "a", "graph", "and", "its", "pages", "has", "links", "to", "hosts", "that", "are")
ALIKE = {
    **{f"bytes/{number}": copy(prose("bytes")) for number in range(3)},
    "text/plain": copy(prose("text")),
    "text/marked": copy(prose("text"), "<!-- 77 --><style>p { color: red }</style>", '<div class="x"><p>{}</p></div>'),
    **{f"near/{number}": copy(changed(prose("near", 3000), 500 * number)) for number in range(1, 5)},
    # No copies: half of the text, the same words in another order, and a frame around texts of their own.
    "half/1": copy([*prose("half"), *prose("first half")]),
    "half/2": copy([*prose("half"), *prose("second half")]),
    "order/1": copy(prose("order")),
    "order/2": copy(random.Random(2).sample(prose("order"), 300)),
    **{f"frame/{number}": copy([*prose("frame", 60), *prose(f"framed {number}", 120)]) for number in range(4)},
}
"""Path → answer of the host of copies."""
COPIED = {
    kind: {frozenset(f"{COPIES}/{path}" for path in ALIKE if path.startswith(f"{name}/")) for name in names}
    for kind, names in {
        "duplicates": ("bytes",),
        "text-duplicates": ("bytes", "text"),
        "near-duplicates": ("bytes", "text", "near"),
    }.items()
}
"""Question → the groups of that host that it must find, and no others."""
PAGES = {
    f"{HOST}/": html(
        "", *(f"/{path}" for path in (*SAID, *GONE, *LOST, "old")), f"{SLOW}/", f"{COPIES}/", title="Home"
    ),
    f"{COPIES}/": html("", *(f"/{path}" for path in ALIKE), title="Copies of all kinds"),
    **{f"{COPIES}/{path}": reply for path, reply in ALIKE.items()},
    f"{HOST}/old": Reply(301, headers={"Location": "/final"}),
    f"{SLOW}/": html("", title="Slow"),
    **{f"{HOST}/{path}": reply for path, (reply, _) in SAID.items()},
    **{f"{HOST}/{path}": reply for path, (reply, _) in LOST.items()},
    **{f"{HOST}/{path}": Reply(404, f"<title>404</title><p>{MISSING}") for path in GONE},
}
SECOND = {f"{HOST}/flickers": Reply(404, f"<title>404</title><p>{MISSING}")}
FACTS = {f"{HOST}/{path}": facts for path, (_, facts) in (SAID | LOST).items()}


@dataclass
class Planted:
    """The web while it is served: `proxy` is where, `phase` says which answers it gives."""

    proxy: str
    phase: int = 1

    def answer(self, url: str) -> Reply:
        second = SECOND.get(url) if self.phase == 2 else None
        return second or PAGES.get(url) or Reply(404, f"<title>404</title><p>{MISSING}")


@contextmanager
def planted() -> Iterator[Planted]:
    """Serve the web until the end of the block."""
    web = Planted("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            reply = web.answer(self.path)
            if self.path.startswith(SLOW):
                time.sleep(SLOWNESS)
            body = reply.body.encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.kind, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with listening(Handler) as address:
        web.proxy = address
        yield web
