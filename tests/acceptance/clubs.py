"""Sites of members, on loopback: a session that ends after a number of pages, and what is answered then."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from tests.acceptance.listening import answering

HOST = "club.example"
SECRET = "sesame"
FORM = (
    "<title>Sign in</title><h1>Sign in</h1><p>Members of the club sign in here to read on."
    "<form method=post action=/login><input type=hidden name=token value={token}><input name=user>"
    "<input type=password name=secret><button>Sign in</button></form>"
)
Way = Literal["redirect", "entry", "same", "script", "forbidden", "unauthorized", "public"]


@dataclass
class Club:
    """A site of `pages` pages.

    Attributes:
        way: How a page is answered to a visitor without a session: by a redirect to the login, or to an address that is
            not named like one (`entry`), by the login at the same address, or one that a script writes, by 403 or 401;
            `public`: as to a member, with a login box in the header of each page.
        lasts: The number of pages after which a session ends.
        read: The pages that members have read.
        turned: The answers to others.
        logins: The sessions that were made by the form.
    """

    way: Way
    pages: int = 30
    lasts: int = 1_000
    sessions: dict[str, int] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)
    turned: Counter[str] = field(default_factory=Counter)
    logins: int = 0
    tokens: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    address: str = ""

    def member(self) -> str:
        """Return a new session."""
        name = secrets.token_hex(8)
        self.sessions[name] = self.lasts
        return name

    def page(self, path: str) -> str:
        """Return a page, whose words are its own. Each links to the next ones, and out."""
        number = int(path.rpartition("/")[2] or 0)
        links = "".join(f"<a href=/m/{n}>page {n}</a> " for n in range(number + 1, min(number + 6, self.pages)))
        words = " ".join(f"w{number * 31 + n}" for n in range(60))
        box = FORM.format(token=0) if self.way == "public" else ""
        return (
            f"<title>Page {number}</title>{box}<p>{words}<p>{links}<a href=/logout>leave</a><a href=/m/1/delete>x</a>"
        )

    def answer(self, path: str, sent: str, cookie: str) -> tuple[int, dict[str, str], str]:
        """Return the status, headers and body of an answer."""
        bare, session = urlsplit(path).path, cookie.partition("session=")[2].partition(";")[0]
        if bare == "/robots.txt":
            return 404, {}, ""
        if bare == "/logout" or bare.endswith("/delete"):
            self.sessions.pop(session, None)
            return 200, {"Set-Cookie": "session=; Max-Age=0; Path=/"}, "bye"
        if bare in ("/login", "/entry"):
            return self._login(sent)
        left = self.sessions.get(session, 0)
        if left > 0 or self.way == "public":
            self.sessions[session] = left - 1
            self.read[bare] += 1
            return 200, {}, self.page(bare)
        self.turned[bare] += 1
        if self.way in ("redirect", "entry"):
            return 302, {"Location": f"/{'login' if self.way == 'redirect' else 'entry'}?next={path}"}, ""
        if self.way == "script":
            return 200, {}, f"<body><script>document.body.innerHTML = {FORM!r}</script>"
        if self.way == "same":
            return 200, {}, FORM.format(token=secrets.token_hex(8))
        return {"forbidden": 403, "unauthorized": 401}[self.way], {}, "members only"

    def _login(self, sent: str) -> tuple[int, dict[str, str], str]:
        given = {name: values[0] for name, values in parse_qs(sent).items()}
        if given.get("secret") == SECRET and given.get("token") in self.tokens:
            self.logins += 1
            return 302, {"Location": "/m/0", "Set-Cookie": f"session={self.member()}; Path=/"}, ""
        self.tokens.add(token := secrets.token_hex(8))
        return 200, {}, FORM.format(token=token)


@contextmanager
def club(way: Way, **more: Any) -> Iterator[Club]:
    """Serve a club as a proxy, so that it has a name."""
    site = Club(way, **more)

    def answer(target: str, sent: str, cookie: str) -> tuple[int, dict[str, str], str]:
        with site.lock:
            return site.answer(target.removeprefix(f"http://{HOST}"), sent, cookie)

    with answering(answer) as site.address:
        yield site
