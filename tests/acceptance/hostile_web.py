"""A web that does what crawlers have complained of, on loopback, the same each time.

One server is the proxy for all its hosts, as the demo's is. Every answer is computed from the request, from how often
the same was asked for, and from a clock that is handed in. The *good* pages are known: a crawler that needs no help
fetches each of them, `missing` tells those that it has not, and `visits` what it asked for. Each host is a `Site`; what
is hostile about it stands in the function that makes it.
"""

from __future__ import annotations

import html
import itertools
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from graphbrain.demo.web import Through

HOUR, DAY = 3_600.0, 86_400.0
EVENING = (0.0, 6 * HOUR)
"""When evening.example is under maintenance, in seconds since the web began."""
NEXT_DAY = (20 * HOUR, 30 * HOUR)
"""The same of nextday.example, which has been crawled by then."""
LONG_SILENCE = 30.0
"""Seconds after which a host that hangs lets go of its visitor, who is long gone."""


@dataclass(frozen=True)
class Ask:
    """One request: `target` is path and query as they came, `nth` counts the same target, `at` is by the web's clock,
    `since` its beginning."""

    host: str
    target: str
    nth: int
    at: float
    since: float
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Reply:
    """What a request gets. `good`: an answer of a page that must be fetched; `kind`: what it counts as; `how`: what the
    connection does in place of an answer."""

    status: int = 200
    links: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    good: bool = False
    kind: str = "other"
    how: str = ""


Answers = Callable[[Ask], Reply]


def page(*links: str, body: bytes | None = None, **headers: str) -> Reply:
    """A good page."""
    return Reply(200, links, {name.replace("_", "-"): text for name, text in headers.items()}, body, True, "good")


def sent(place: str, status: int = 301, kind: str = "redirect") -> Reply:
    """A redirect."""
    return Reply(status, headers={"Location": place}, kind=kind)


def nothing(_: Ask) -> Reply:
    """There is no such page."""
    return Reply(404, kind="missing")


@dataclass
class Site:
    """One host. `pages`: by path and query, a reply or a function that makes one (then `good` names the good ones);
    `entries`: what the start page links to; `named`: which page a target is one of the addresses of."""

    host: str
    pages: dict[str, Reply | Answers] = field(default_factory=dict)
    good: set[str] = field(default_factory=set)
    otherwise: Answers = nothing
    entries: Sequence[str] = ("/",)
    seeds: bool = False
    robots: bytes | None = None
    forbidden: frozenset[str] = frozenset()
    first: Callable[[Ask], Reply | None] = lambda _: None
    named: Callable[[str], str] = lambda target: target
    days: float = 0.0
    """After so many days all its good pages must have been fetched."""

    def __post_init__(self) -> None:
        self.good |= {target for target, made in self.pages.items() if isinstance(made, Reply) and made.good}

    def reply(self, ask: Ask) -> Reply:
        if (before := self.first(ask)) is not None:
            return before
        found = self.pages.get(self.named(ask.target), self.otherwise)
        return found if isinstance(found, Reply) else found(ask)


def plain(count: int, *links: str, root: Sequence[str] = ()) -> dict[str, Reply | Answers]:
    """A root that links to so many pages, and those back."""
    return {"/": page(*root, *(f"/{n}" for n in range(count)))} | {f"/{n}": page("/", *links) for n in range(count)}


# ---------------------------------------------------------------- traps


def calendar() -> Site:
    """Each month links to the next, the last, and its days, for ever."""

    def month(ask: Ask) -> Reply:
        if not (found := re.fullmatch(r"/cal\?month=(-?\d+)(?:&day=\d+)?", ask.target)):
            return nothing(ask)
        n = int(found[1])
        days = () if "day" in ask.target else (f"/cal?month={n}&day={day}" for day in range(1, 29))
        return Reply(links=("/", f"/cal?month={n + 1}", f"/cal?month={n - 1}", *days), kind="trap")

    return Site("calendar.example", plain(6, root=["/cal?month=0"]), otherwise=month)


def concatenating() -> Site:
    """Its menu has relative links, and every path is a page."""

    def deeper(_: Ask) -> Reply:
        return Reply(links=("/", "news/", "www.concat.example/", "../shop/", "?page=2"), kind="trap")

    return Site("concat.example", plain(6, root=["news/"]), otherwise=deeper)


def facets() -> Site:
    """A list that can be narrowed by one more argument on each page, in any order."""

    def narrower(ask: Ask) -> Reply:
        if ask.path != "/list":
            return nothing(ask)
        more = (f"{ask.target}{'&' if '?' in ask.target else '?'}{name}={n}" for name in "abc" for n in range(3))
        return Reply(links=("/", *more), kind="trap")

    return Site("facets.example", plain(6, root=["/list"]), otherwise=narrower)


# ---------------------------------------------------------------- busy, dead and slow hosts

WAITS: dict[str, Callable[[float], str]] = {
    "silent": lambda _: "",
    "seconds": lambda _: "2",
    "date": lambda now: formatdate(now + 4, usegmt=True),
    "oldstyle": lambda now: time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(now + 4)),
    "words": lambda _: "-7 soon",
    "huge": lambda _: "999999999999999999999",
    "hour": lambda now: formatdate(now + HOUR, usegmt=True),
}
LEAST_WAITS = {"seconds": 2.0, "date": 3.0, "oldstyle": 3.0, "hour": HOUR - 1.0}
"""Seconds for which a host that says so must be left alone; dates are told in whole ones."""
SHORT_WAITS = ("seconds", "date", "oldstyle")


def busy(word: str, status: int) -> Site:
    """One page always answers 503 or 429; all others are well."""

    def refuse(ask: Ask) -> Reply:
        wait = WAITS[word](ask.at)
        return Reply(status, headers={"Retry-After": wait} if wait else {}, kind="busy")

    return Site(f"busy-{word}.example", {**plain(6, "/bad", root=["/bad"]), "/bad": refuse})


def dead(how: str) -> Site:
    """A host that never answers a request: the connection hangs, or is cut."""
    pages = [f"/{n}" for n in range(6)]
    return Site(f"{how}.example", otherwise=lambda _: Reply(kind="dead", how=how), entries=pages)


def waking() -> Site:
    """Hangs at its first requests, and is well afterwards."""
    asked = itertools.count()
    return Site(
        "waking.example", plain(5), first=lambda _: Reply(kind="dead", how="hang") if next(asked) < 4 else None, days=1
    )


def dripping() -> Site:
    """Answers that never end: a byte now and then, and as much as one takes."""
    never = {path: Reply(kind="endless", how=path[1:]) for path in ("/drip", "/endless")}
    return Site("dripping.example", {**plain(5, *never, root=[*never]), **never})


def flaky() -> Site:
    """Each page answers 500, or cuts the connection in the middle, before it answers."""

    def later(ask: Ask) -> Reply:
        if ask.nth <= 2:
            return Reply(500, kind="flaky", how="" if ask.nth == 1 else "half")
        return page("/")

    pages = {f"/{n}": later for n in range(6)}
    return Site("flaky.example", {"/": page(*pages), **pages}, good=set(pages), days=1)


# ---------------------------------------------------------------- redirects


def redirects() -> Iterator[Site]:
    """Loops, chains, and places told in every way that there is."""
    good = {
        "/kept": page("/"),
        "/end": page("/"),
        "/t4": page("/behind-t4"),
        "/behind-t4": page(),
        "/deep/b/target": page("../c"),
        "/deep/c": page(),
        "/rel2-target": page(),
        "/rel3?x=1": page(),
        "/gr%C3%B6%C3%9Fe": page(),
        "/with%20space": page(),
        "/frag-target": page(),
        "/fragments": page("#top", "/fragments#bottom", "/fragments?#x"),
        "/order?a=2&b=1": page(),
        "/order2?z=1&b=1&a=2": page(),
        "/seen?x=1": page(),
    }
    ill: dict[str, Reply | Answers] = {
        "/loop1": sent("/loop2", kind="loop"),
        "/loop2": sent("/loop1", kind="loop"),
        "/self": sent("/self", kind="loop"),
        "/self2": sent("#again", kind="loop"),
        "/tmp1": sent("/tmp2", 302, kind="loop"),
        "/tmp2": sent("/tmp1", 302, kind="loop"),
        "/bounce?a=1&b=2": sent("/bounce?b=2&a=1", kind="loop"),
        "/bounce?b=2&a=1": sent("/bounce?a=1&b=2", kind="loop"),
        "/none": Reply(301, kind="redirect"),
        "/mail": sent("mailto:x@y.example"),
        "/file": sent("file:///etc/passwd", 302),
        "/broken": sent("http://[broken/"),
        "/long": sent("http://" + "a" * 70 + ".example/"),
        "/deep/a/rel1": sent("../b/target"),
        "/rel2": sent("rel2-target", 308),
        "/rel3": sent("?x=1"),
        "/rel4": sent("//elsewhere.example/there"),
        "/utf": sent("/größe".encode().decode("latin-1")),
        "/space": sent("/with space"),
        "/frag": sent("/frag-target#part"),
        "/order?b=1&a=2": sent("/order?a=2&b=1"),
        "/order2?a=2&b=1&z=1": sent("/order2?z=1&b=1&a=2"),
        "/seen?x=1&utm_source=a": sent("/seen?x=1"),
        **{f"/c{n}": sent(f"/c{n + 1}" if n < 15 else "/end") for n in range(16)},
        **{f"/t{n}": sent(f"/t{n + 1}", (302, 303, 307)[n % 3]) for n in range(4)},
    }
    links = [
        *(
            "/kept",
            "/loop1",
            "/self",
            "/self2",
            "/tmp1",
            "/bounce?a=1&b=2",
            "/none",
            "/mail",
            "/file",
            "/broken",
            "/long",
        ),
        *("/deep/a/rel1", "/rel2", "/rel3", "/rel4", "/utf", "/space", "/frag", "/c0", "/t0", "/fragments#here"),
        *("/order?b=1&a=2", "/order2?a=2&b=1&z=1", "/seen?x=1&utm_source=a"),
    ]
    yield Site("redirects.example", {"/": page(*links), **good, **ill})
    yield Site("elsewhere.example", {"/there": page("/")}, entries=())
    yield Site("old.example", otherwise=lambda ask: sent(f"http://www.old.example{ask.target}"), seeds=True)
    yield Site("www.old.example", plain(5), entries=())


def maintenance(host: str, evening: tuple[float, float]) -> Site:
    """For one evening it answers 301 to everything."""

    def closed(ask: Ask) -> Reply | None:
        if evening[0] <= ask.since < evening[1]:
            return Reply(kind="maintenance") if ask.path == "/maintenance" else sent("/maintenance", kind="maintenance")
        return None

    pages = plain(10, "/behind")
    good = {**pages, "/behind": page("/")}
    return Site(host, good, first=closed, entries=[*pages], days=evening[1] / DAY + 3)


def conditional() -> Site:
    """Answers 304 to who has never seen the page, and to who has."""

    def first(ask: Ask) -> Reply:
        return Reply(304, kind="unmodified") if ask.nth == 1 else page("/")

    def stamped(ask: Ask) -> Reply:
        if ask.headers.get("If-None-Match") == '"1"':
            return Reply(304, headers={"ETag": '"1"'}, kind="unmodified")
        return page("/", ETag='"1"')

    ill = {"/first": first, "/stamped": stamped, "/always": Reply(304, kind="unmodified")}
    return Site(
        "conditional.example", {**plain(3, root=[*ill]), **ill}, good={"/first", "/stamped"}, days=2
    )  # fmt: skip


# ---------------------------------------------------------------- what is in the answers


def charsets() -> Site:
    """Content-Types that lie, or say nothing; each page is the only one to link to what lies behind it."""
    bodies: dict[str, tuple[str, bytes]] = {}
    text = "<!doctype html><title>Grüße</title><p>żółć <a href='/behind/{}'>weiter</a>"
    for n, (said, real) in enumerate(
        [
            ("text/html; charset=utf-8", "latin-1"),
            ("text/html; charset=klingon", "utf-8"),
            ("text/html; charset=undefined", "utf-8"),
            ("text/html; charset=idna", "utf-8"),
            ("text/html; charset=hex", "utf-8"),
            ("text/html; charset=", "utf-8"),
            ('text/html; charset="utf-8', "utf-8"),
            ("text/html; charset=utf-16", "utf-16"),
            ("text/html; charset=iso-8859-2, text/html", "iso-8859-2"),
            ("TEXT/HTML;Charset=UTF-8", "utf-8"),
            ("text/html", "utf-8"),
            ("application/xhtml+xml; charset=utf-8", "utf-8"),
            ("", "utf-8"),
        ]
    ):
        bodies[f"/{n}"] = said, text.format(n).encode(real, "replace")
    pages = {path: page(body=body, Content_Type=said) for path, (said, body) in bodies.items()}
    behind = {f"/behind/{n}": page("/") for n in range(len(pages))}
    junk = bytes(range(256)) * 40
    more = {
        "/empty": page(body=b""),
        "/spaces": page(body=b" \n\0 "),
        "/picture": page(body=junk, Content_Type="text/html"),
        "/text": page(body=b"<a href='/never'>x</a>", Content_Type="image/png"),
        "/cut": page(body=b"<a href='/behind/cut'>x</a><p>" + b"x" * 99, Content_Length="1000"),
        "/behind/cut": page(),
        "/no-content": Reply(204, body=b"", kind="other"),
    }
    root = page(*pages, *(path for path in more if "behind" not in path))
    return Site("charsets.example", {"/": root, **pages, **behind, **more})


def sessions() -> Site:
    """Every link carries a session that nobody has had before, in query and path; any session will do."""
    numbers = itertools.count(1)

    def named(target: str) -> str:
        target = re.sub(r"(?i);jsessionid=[^?;/]*", "", target)
        path, _, query = target.partition("?")
        kept = [part for part in query.split("&") if not re.match(r"(?i)(phpsessid|sessionid|utm(_|%5f)source)=", part)]
        return path + ("?" + "&".join(kept) if kept and query else "")

    def fresh(path: str) -> str:
        n = next(numbers)
        joined = "&" if "?" in path else "?"
        front, mark, query = path.partition("?")
        return (
            f"{path}{joined}PHPSESSID={n:032x}",
            f"{front};jsessionid={n:X}.node1{mark}{query}",
            f"{path}{joined}utm%5Fsource=n{n}",
            f"{front};JSESSIONID={n}{mark}{query}{joined}UTM_SOURCE={n}",
        )[n % 4]

    paths = [*(f"/item?id={n}" for n in range(12)), *(f"/shop/{n}" for n in range(8))]

    def shop(_: Ask) -> Reply:
        return page(*(fresh(path) for path in paths), fresh("/"))

    return Site("sessions.example", dict.fromkeys(["/", *paths], shop), good={"/", *paths}, named=named)


def forced_sessions() -> Site:
    """Sends everybody who comes without a session to the same page with one."""
    numbers = itertools.count(1)

    def named(target: str) -> str:
        return re.sub(r";jsessionid=[^?;/]*", "", target)

    def force(ask: Ask) -> Reply | None:
        if ";jsessionid=" in ask.target or ask.target == "/":
            return None
        return sent(f"{ask.target};jsessionid={next(numbers)}")

    return Site("forced.example", plain(6), first=force, named=named)


def queries() -> Site:
    """Addresses that only work exactly as they are linked."""
    exact = [
        *(f"/git?p=graph.git;a={a};h={n}" for a in ("log", "tree") for n in range(4)),
        *("/service?wsdl", "/service?WSDL", "/?wsdl", "/plus?q=a+b", "/twenty?q=a%20b", "/bare?a&b=&c"),
        *("/unsorted?z=1&a=2&m=3", "/twice?a=2&a=1", "/path;v=1/x;w=2", "/lower?u=%c3%bc", "/tilde/%7Efoo"),
        *("/colon?u=http://x.example/?y", "/comma,a(b)!", "/at/@me:80", "/slash%2Fin", "/amp?a=1&&b=2", "/star*/$1"),
    ]
    raw = {"/ü/ö?ä=ß": "/%C3%BC/%C3%B6?%C3%A4=%C3%9F", "/sp ace": "/sp%20ace", "/dots/../up/./here": "/up/here"}
    return Site(
        "queries.example", {"/": page(*exact, *raw)} | {target: page("/") for target in (*exact, *raw.values())}
    )


def odd() -> Site:
    """Links that no page can have, in every way; one page's must not cost another's."""
    hosts = [
        *(
            "a" * 64 + ".example",
            ".".join(["abcdefgh"] * 28) + ".example",
            "a..b.example",
            "[::1",
            "%zz.example",
            "ex ample",
        ),
        *(
            "",
            ":80",
            "x.example:99999",
            "x.example:eighty",
            "user@:80",
            "-.example",
            "xn--\u00fc.example",
            "\u2100\ufe0f.example",
        ),
        *("b" * 300, "a.\u3002b", "1.2.3.4.5.6", "[v1.x]", "\u200d.example", "_dmarc._x." + "c" * 63 + ".example"),
    ]
    schemes = [
        *(
            "javascript:void(0)",
            "mailto:a@b.example",
            "data:text/html,x",
            "tel:+1",
            "ftp://odd.example/x",
            "about:blank",
        ),
        *(
            "blob:http://odd.example/1",
            "ws://odd.example/",
            "view-source:http://odd.example/",
            "HTTP:",
            "//",
            "http:/odd",
        ),
        *(
            "://",
            ":",
            "#",
            "?",
            " ",
            "\t",
            "\\\\odd.example\\x",
            "whatsapp://send?text=x",
            "http://odd.example\\@x.example/",
        ),
    ]
    signs = [
        "/nul\0x",
        "/one\1",
        "/del\x7f",
        "/" + "long/" * 3000,
        "/?" + "q=1&" * 3000,
        "/\ufffe",
        "/\U000e0041",
        "/%",
        "/%zz",
    ]
    junk = [*(f"http://{host}/" for host in hosts), *schemes, *signs]
    fine = [f"/fine/{n}" for n in range(8)]
    escaped = "".join(f"\\u{unit}" for unit in ("d800", "dfff", "0000"))
    surrogates = f"<a href='/half{escaped}'>x</a><a href='http://h{escaped}.example/'>y</a><a href='/fine/7'>z</a>"
    pages = {
        "/": page(*fine[:3], *junk, *fine[3:6], "/many", "/surrogates", "/fine/6"),
        "/many": page(*(f"/missing/{n}" for n in range(5)), "/"),
        "/surrogates": page(body=surrogates.encode(), Content_Type="text/html; charset=unicode_escape"),
    }
    return Site("odd.example", pages | {path: page("/") for path in fine})


def bases() -> Site:
    """Base addresses that make no sense, and some that do."""
    said = {
        "/broken": "<base href='http://[::'>",
        "/script": "<base href='javascript:void(0)'>",
        "/empty": "<base href=''>",
        "/bare": "<base target=_top>",
        "/second": "<base href='/'><base href='/wrong/'>",
        "/spaces": "<base href=' http://bases.example/ '>",
        "/half": "<base href='/><base href='/'>",
    }
    pages = {
        path: page(body=f"<html><head>{tag}</head><a href='/behind{path}'>x</a>".encode()) for path, tag in said.items()
    }
    del pages["/half"]
    pages["/deep/here"] = page(body=b"<base href='/other/'><![bogus[ x ]><a href='there'>x</a>")
    behind = {f"/behind{path}": page() for path in said if path != "/half"} | {"/other/there": page()}
    return Site("bases.example", {"/": page(*pages), **pages, **behind})


def names() -> Iterator[Site]:
    """Hosts that are written in many ways, and are one."""
    yield Site("xn--bcher-kva.example", plain(3), entries=())
    yield Site("xn--strae-oqa.example", plain(3), entries=())
    written = ["http://bücher.example/0", "http://BÜCHER.example/", "http://b%C3%BCcher.example.:80/1"]
    written += [
        "http://XN--BCHER-KVA.example/2",
        "http://straße.example/",
        "HTTP://names.EXAMPLE./",
        "http://STRASSE.example/",
    ]
    yield Site("names.example", {"/": page(*written)})
    yield Site("strasse.example", {"/": page()}, entries=())


# ---------------------------------------------------------------- robots.txt

ROBOTS: dict[str, tuple[bytes, str, str]] = {
    # what is odd → the text, what it forbids, what it allows
    "bom": (b"\xef\xbb\xbfUser-agent: *\nDisallow: /no", "/no /no/x", "/yes"),
    "cr": (b"User-agent: *\rDisallow: /no\r", "/no", "/yes"),
    "utf16": ("User-agent: *\nDisallow: /no".encode("utf-16"), "/no", "/yes"),
    "html": (b"<html><body>User-agent: *<br>Disallow: /</body></html>", "", "/yes"),
    "groups": (
        b"User-agent: graphbrain\nDisallow: /no\n\nUser-agent: *\nDisallow: /yes\n\n"
        b"User-agent: GraphBrain\nDisallow: /nor",
        "/no /nor",
        "/yes",
    ),
    "agents": (b"User-agent: x\nUser-agent: graphbrain\nDisallow: /no\n\nUser-agent: *\nDisallow: /", "/no", "/yes"),
    "longest": (b"User-agent: *\nDisallow: /a\nAllow: /a/yes\nDisallow: /*.pdf$", "/a/x /f.pdf", "/a/yes /f.pdf?x"),
    "order": (b"User-agent: *\nDisallow: /x?b=\nDisallow: /y?a=", "/x?b=1&a=2", "/y?b=1&a=2 /x?a=1&b=2c"),
    "tracking": (b"User-agent: *\nDisallow: /*utm_source", "/p?utm_source=a", "/p"),
    "semicolon": (
        b"User-agent: *\nDisallow: /git?p=x;a=log\nDisallow: /w?wsdl$",
        "/git?p=x;a=log /w?wsdl",
        "/git?p=x;a=tree /w?b",
    ),
    "escapes": (b"User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /caf%c3%a9\n", "/~joe/x /caf%C3%A9", "/joe"),
    "stars": (
        b"User-agent: *\nDisallow: /" + b"*a" * 20 + b"b$\nDisallow: /" + b"*" * 30 + b"no",
        "/no",
        "/" + "a" * 60,
    ),
    "spelling": (b"user-agent : * # all\ndisallow : /no # x\n\n\nCrawl-delay: 1e400\nCrawl-delay: x\n", "/no", "/yes"),
}


def robots() -> Iterator[Site]:
    """robots.txt of all kinds."""
    for word, (text, no, yes) in ROBOTS.items():
        allowed, barred = yes.split(), no.split()
        root = page(*barred, *allowed)
        yield Site(
            f"robots-{word}.example",
            {"/": root} | {target: page("/") for target in allowed},
            otherwise=lambda _: Reply(kind="forbidden"),
            robots=text,
            forbidden=frozenset(barred),
            seeds=True,
        )
    for host, text in (("robots-ports.example", b"User-agent: *\nDisallow: /no"), ("robots-ports.example:8080", b"")):
        found = {"/": page("/no", "/yes"), "/yes": page()} | ({"/no": page()} if ":" in host else {})
        forbidden = frozenset() if ":" in host else frozenset({"/no"})
        yield Site(
            host, found, otherwise=lambda _: Reply(kind="forbidden"), robots=text, forbidden=forbidden, seeds=True
        )


# ---------------------------------------------------------------- one large host beside small ones


def large(pages: int, indexes: int = 20) -> Site:
    """So many pages, listed on some index pages."""
    size = -(-pages // indexes)

    def listed(ask: Ask) -> Reply:
        n = int(ask.path.removeprefix("/index/"))
        return page(*(f"/page/{k}" for k in range(n * size, min(pages, (n + 1) * size))))

    one = page("/")
    found: dict[str, Reply | Answers] = {"/": page(*(f"/index/{n}" for n in range(indexes)))}
    found |= {f"/index/{n}": listed for n in range(indexes)} | {f"/page/{k}": one for k in range(pages)}
    return Site("large.example", found, good={f"/index/{n}" for n in range(indexes)}, entries=(), seeds=True)


def small(hosts: int, pages: int = 2) -> Iterator[Site]:
    """So many hosts of few pages."""
    for n in range(hosts):
        yield Site(f"small{n}.example", plain(pages))


def hostile(*, quick: bool = False) -> list[Site]:
    """All sites of the hostile web; `quick`: but those that take hours or days of a crawler's time."""
    sites = [
        calendar(),
        concatenating(),
        facets(),
        charsets(),
        sessions(),
        forced_sessions(),
        queries(),
        odd(),
        bases(),
    ]
    sites += [*redirects(), *names(), *robots(), dead("hang"), dead("reset"), dripping()]
    sites += [busy(word, (503, 429)[n % 2]) for n, word in enumerate(SHORT_WAITS if quick else WAITS)]
    if not quick:
        sites += [waking(), flaky(), conditional()]
    return sites


def evenings() -> list[Site]:
    """Two sites with an evening of maintenance: one where the crawl begins with it, and one that is known before it."""
    return [maintenance("evening.example", EVENING), maintenance("nextday.example", NEXT_DAY)]


# ---------------------------------------------------------------- the server


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: when (by the web's clock), to which host, for what, which page that is, and what it got."""

    when: float
    host: str
    target: str
    name: str
    status: int
    kind: str
    wait: str | None


class HostileWeb:
    """The sites and their server: `with HostileWeb(sites) as web: … web.proxy …`.

    `visits`: every request so far. `seeds`: where to start. `clock`: what "now" is to the sites.
    """

    def __init__(self, sites: Iterable[Site], clock: Callable[[], float] = time.time) -> None:
        self.sites = {site.host: site for site in sites}
        self.clock = clock
        self.began = clock()
        entries = [f"http://{site.host}{path}" for site in self.sites.values() for path in site.entries]
        self.sites["start.example"] = Site("start.example", {"/": page(*entries)}, seeds=True)
        self.seeds = [f"http://{site.host}/" for site in self.sites.values() if site.seeds]
        self.robots = {f"http://{site.host}": site.robots for site in self.sites.values() if site.robots is not None}
        # What is said of https says nothing of http.
        self.robots |= {f"https://{host}": b"User-agent: *\nDisallow: /" for host in self.sites if "-bom" in host}
        self.good = {f"{site.host}{target}" for site in self.sites.values() for target in site.good}
        self.forbidden = {f"{site.host}{target}" for site in self.sites.values() for target in site.forbidden}
        self.visits: list[Visit] = []
        self.got: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self._targets: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self.closing = threading.Event()

    def __enter__(self) -> Self:
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def proxy(self) -> str:
        """`host:port` of the running server."""
        assert self._server is not None
        return f"127.0.0.1:{self._server.server_address[1]}"

    def handler(self) -> Any:
        """What urllib needs to reach these hosts."""
        return Through(self.proxy)

    def missing(self, after: float = float("inf")) -> set[str]:
        """Good pages that nobody has got, of the sites that are due so many seconds after the web began."""
        due = {site.host for site in self.sites.values() if site.days * DAY <= after}
        with self._lock:
            return {name for name in self.good if not self.got[name] and re.split("[/?]", name)[0] in due}

    def kinds(self) -> Counter[str]:
        """How many requests of each kind there were."""
        with self._lock:
            return Counter(visit.kind for visit in self.visits)

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> Reply:
        """The reply to one GET, noted as a visit."""
        site = self.sites.get(host)
        name = host + (site.named(target) if site else target)
        now = self.clock()
        with self._lock:
            self._targets[host + target] += 1
            ask = Ask(host, target, self._targets[host + target], now, now - self.began, headers)
        reply = site.reply(ask) if site else Reply(404, kind="nowhere")
        with self._lock:
            self.asked[name] += 1
            self.got[name] += reply.good
            wait = reply.headers.get("Retry-After")
            self.visits.append(Visit(now, host, target, name, 0 if reply.how else reply.status, reply.kind, wait))
        return reply


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, web: HostileWeb) -> None:
        self.web = web
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: Any) -> None:
        """A visitor that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 10.0
    server: _Server

    def do_GET(self) -> None:
        url = self.path if "://" in self.path.split("?")[0] else f"http://{self.headers.get('Host', '')}{self.path}"
        host, slash, rest = url.split("://", 1)[1].partition("/")
        if "?" in host:
            host, slash, rest = host.partition("?")
        reply = self.server.web.answer(host, slash + rest, self.headers)
        if reply.how in ("hang", "reset"):
            self._hold(reply.how)
            return
        body = _body(reply, host + slash + rest)
        self.send_response(reply.status)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **reply.headers}
        if reply.how:
            headers["Content-Length"] = "1000000000"
        for name, value in headers.items():
            if value and not (reply.status in (204, 304) and name == "Content-Length"):
                self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body if reply.status not in (204, 304) else b"")
            self.wfile.flush()
            self._hold(reply.how)
        self.close_connection |= headers["Content-Length"] != str(len(body))

    def _hold(self, how: str) -> None:
        """Do to the connection what the site does."""
        until = time.monotonic() + LONG_SILENCE
        closing = self.server.web.closing
        if how == "hang":
            closing.wait(LONG_SILENCE)
        while how in ("drip", "endless") and time.monotonic() < until and not closing.is_set():
            self.wfile.write(b"x" if how == "drip" else b"<a href='/endless'>on and on</a>\n" * 2_000)
            self.wfile.flush()
            closing.wait(0.1 if how == "drip" else 0)
        if how:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if how in ("reset", "half"):
                self.connection.close()

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The date of an answer, by the web's clock."""
        return formatdate(self.server.web.clock() if timestamp is None else timestamp, usegmt=True)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _body(reply: Reply, url: str) -> bytes:
    if reply.body is not None:
        return reply.body
    anchors = "".join(f"<a href='{html.escape(link)}'>to {number}</a>\n" for number, link in enumerate(reply.links))
    title = html.escape(url[:200])
    return f"<!doctype html><title>{title}</title><p>This is {title}.</p>\n{anchors}".encode("utf-8", "replace")
