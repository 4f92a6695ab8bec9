"""The recognition of URLs that name a login, and of links that end a session or delete data of its user."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["LOGOUTS", "REMOVALS", "leads_out", "names_login"]

LOGOUTS = frozenset({"logout", "logoff", "signout", "abmelden", "deconnexion", "cerrarsesion", "userlogout"})
"""Words that are the last step of the path, or a part of the query, of links that end a session; without hyphens and
accents."""
REMOVALS = frozenset({"delete", "remove", "unsubscribe"})
"""Words that are a step of the path, or a part of the query, of links that delete data of an account."""
LOGINS = frozenset({
    "login", "logon", "signin", "signon", "signup", "register", "userlogin", "wplogin", "auth", "authenticate",
    "authorize", "sso", "anmelden", "anmeldung", "registrieren", "connexion", "inscription", "iniciarsesion", "acceso",
})  # fmt: skip
"""Words that are the last step of the path, or a value of the query, of login pages."""
_ENDING = re.compile(r"\.(?:php\d?|aspx?|jsp|do|html?|cgi)$")
_BETWEEN = re.compile(r"[-_. ]")


def _words(texts: Iterable[str]) -> list[str]:
    """Return texts in the form in which they are compared: in lower case, without accents, hyphens and endings."""
    plain = ("".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)) for text in texts)
    return [_BETWEEN.sub("", _ENDING.sub("", text.partition(";")[0].lower().rpartition(":")[2])) for text in plain]


def _parts(url: str) -> tuple[list[str], list[str], list[str]]:
    """Return (steps of the path, names in the query, values in the query) of a URL, in the form of `_words`.

    All are empty for a text that is no URL.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return [], [], []
    query = parse_qsl(parts.query, keep_blank_values=True)
    steps = _words(unquote(step) for step in parts.path.split("/") if step)
    return steps, _words(name for name, _ in query), _words(value for _, value in query if "/" not in value)


def leads_out(url: str) -> bool:
    """Return whether a link ends the session of its reader, or deletes data of the reader."""
    steps, names, values = _parts(url)
    query = [*names, *values]
    return not LOGOUTS.isdisjoint([*steps[-1:], *query]) or not REMOVALS.isdisjoint([*steps, *query])


def names_login(url: str) -> bool:
    """Return whether a URL names a login: its page exists for the sake of its password field."""
    steps, _, values = _parts(url)
    steps = [step for step in steps if step not in ("index", "default")]
    return not LOGINS.isdisjoint([*steps[-1:], *values])
