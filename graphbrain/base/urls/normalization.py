"""The address of a page, the key of a page, and the host whose limits it counts against.

The *address* is the URL as the site wrote it. It is fetched and shown, and it is compared with robots.txt and the
scope. It is changed only as RFC 3986 allows without knowledge of the server: scheme and host in lower case, the host by
UTS 46, no default port, no dot segments and no fragment, and escapes for characters that a URL may not contain. It is
also changed as browsers do (WHATWG URL): tabs and line ends are removed, a `\\` before the query becomes a `/`, and the
host begins after any number of slashes after the scheme, or after none.
User and password are removed: they are no part of the host (RFC 3986, 3.2.1), and no stored or sent text contains them.

The *key* identifies a page. It is the blake2b-128 digest of a normal form. In the normal form arguments are sorted,
escapes are uniform, and arguments are removed that only track a visitor or identify a session. A function of the user
may change the normal form as a last step. The key is a digest because a URL can be too long for Neo4j's indexes.
`RULES_VERSION` is stored in the database, and changes with the rules for keys.

The normal form is idempotent, and equal to its address: `normal(address(url)) == normal(normal(address(url)))`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote_plus, unquote_to_bytes, urljoin

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.hostnames import host_text

__all__ = [
    "LONGEST",
    "RULES_VERSION",
    "USER_LEFT_OUT",
    "Rules",
    "address",
    "cleaner",
    "empty_steps",
    "filled",
    "folder",
    "host_of",
    "is_key",
    "key_of",
    "name_of",
    "names_user",
    "normal",
    "path_repeats",
    "resolved",
    "spell",
    "surplus",
    "without_user",
]

RULES_VERSION = 4
"""The version of the rules for keys. Development versions of graphbrain had 1 to 3."""
LONGEST = 8192
LONGEST_WRITTEN = 4 * LONGEST
"""Most characters of a URL as it is written. Of a longer one, only these are searched for a user's name."""
REMEMBERED, LONGEST_REMEMBERED = 50_000, 1_000
"""Most URLs that are cached with their keys, and most characters of each: they limit the bytes of the cache."""
USER_LEFT_OUT = "the user and the password in its URL were left out"
"""The remark of an answer about a URL that names a user."""
TRACKING = (
    # Campaigns: Google Analytics and similar names, Matomo, HubSpot's advertisements. Each name is listed: by their
    # beginnings alone, arguments that name another page would be removed, too, and that page would never be fetched.
    *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform"),
    *("utm_creative_format", "utm_marketing_tactic", "utm_name", "utm_cid", "utm_reader", "utm_place", "utm_referrer"),
    *("utm_pubreferrer", "utm_swu", "utm_viz_id", "utm_brand", "utm_social", "utm_social-type", "utm_userid"),
    *("utm_keyword", "utm_campaignid", "utm_campaign_id", "utm_adgroup", "utm_adgroupid", "utm_ad", "utm_device"),
    *("utm_matchtype", "utm_network", "utm_placement", "utm_channel", "utm_type", "utm_expid", "utm_nooverride"),
    *("mtm_campaign", "mtm_keyword", "mtm_kwd", "mtm_source", "mtm_medium", "mtm_content", "mtm_cid", "mtm_group"),
    *("mtm_placement", "pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content", "pk_cid"),
    *(
        "hsa_acc",
        "hsa_cam",
        "hsa_grp",
        "hsa_ad",
        "hsa_src",
        "hsa_tgt",
        "hsa_kw",
        "hsa_mt",
        "hsa_net",
        "hsa_ver",
        "hsa_la",
    ),
    *("hsa_ol",),
    # Clicks on advertisements, search results and posts.
    *("gclid", "gclsrc", "gbraid", "wbraid", "gad_source", "gad_campaignid", "dclid", "srsltid", "fbclid", "igshid"),
    *("igsh", "msclkid", "yclid", "ysclid", "_openstat", "ttclid", "twclid", "li_fat_id", "epik", "sccid"),
    *("rdt_cid", "irclickid", "cjevent", "s_kwcid", "ef_id", "zanpid"),
    # Clicks in e-mails, and visitors that one site passes to another.
    *("mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking"),
    *("vero_id", "vero_conv", "oly_anon_id", "oly_enc_id", "ml_subscriber", "ml_subscriber_hash", "_ga", "_gl"),
    # Sessions: Java, PHP, ColdFusion, osCommerce, Zen Cart, ASP.
    *("jsessionid", "phpsessid", "sessionid", "cfid", "cftoken", "oscsid", "zenid", "aspsessionid*"),
)
"""Names of arguments that do not distinguish pages, in lower case. `*` at the end matches any text. They are compared
unescaped, without regard to case, and without the index of a PHP array: `PHPSESSID[]`."""
_TRACKING_NAMES = frozenset(name for name in TRACKING if not name.endswith("*"))
_TRACKING_BEGINS = tuple(name[:-1] for name in TRACKING if name.endswith("*"))
HASHED = frozenset({"sid"})
"""Names of arguments that identify a session if their value is an MD5 digest, as in phpBB. Otherwise they may have any
meaning."""

# A URL that equals its address and its normal form. This test saves some 20 µs for each such URL.
_PLAIN = re.compile(
    r"https?://(?=[^/]{1,253}/)(?!.*/\.{1,2}(?:/|\Z))"
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?"
    r"(?::(?!80/|443/)[1-9]\d{0,3})?/[A-Za-z0-9_.~/-]*\Z"
)
_REMOVED = str.maketrans("", "", "\t\r\n")
_UNCLEAN = re.compile(r"[\t\r\n\\]")
_DIGEST = re.compile(r"[0-9A-Fa-f]{32}")
_NO_HOST = re.compile(r"(?:https?:)?//+(?:[?#]|\Z)", re.IGNORECASE)
_SCHEME = re.compile(r"(?P<scheme>https?):(?P<slashes>/*)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BEFORE_QUERY = re.compile(r"[^?#]*")
_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?\Z",
    re.DOTALL,
)
_DEFAULT_PORT = {"http": 80, "https": 443}
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_PATH_CHARACTERS = frozenset(_UNRESERVED + "!$&'()*+,;=:@/")
_QUERY_CHARACTERS = _PATH_CHARACTERS | {"?"}
# Characters that may be written with or without an escape in a path: all but those that separate its parts.
_SAME_UNESCAPED = _PATH_CHARACTERS - frozenset("/;")
_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
# Without cookies ASP.NET writes session and login into a segment of the path: /(S(lit3py55)F(…))/page.aspx
_ASP_SESSION = re.compile(r"\((?:[A-Za-z]\([^()/]*\))+\)")


def key_of(normal_form: str) -> str:
    """Return the 32 hex digits that identify a page in the graph, from the normal form of its address."""
    return blake2b(normal_form.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_key(text: object) -> bool:
    """Return whether a value is the key of a page."""
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{32}", text) is not None


def host_of(url: str) -> str:
    """Return the host of an address: its name, with the port unless it is the usual one."""
    netloc = url.split("/", 3)[2]
    return netloc.rsplit("@", 1)[-1]


def name_of(url: str) -> str:
    """Return a caption for Neo4j Browser: the last step of the path, and the host.

    Neo4j Browser shows only the beginning of a caption, and pages of a host differ in the last step.
    """
    host = host_of(url)
    tail = url.split("/", 3)[-1].rstrip("/").rsplit("/", 1)[-1]
    return f"{tail[:60]} ({host})"[:80] if tail else host[:80]


def address(url: str, hash_bang: bool = False) -> str:
    """Return the address of a page for a URL as a user or a site wrote it.

    Args:
        url: The URL.
        hash_bang: Keep a fragment that begins with `!`.

    Raises:
        BadInput: The URL cannot name a page; the message has the reason.
    """
    if not isinstance(url, str):
        raise BadInput(f"a URL must be text, not {type(url).__name__}")
    # Most URLs equal their addresses.
    if len(url) <= LONGEST and _PLAIN.match(url):
        return url
    # Check the characters, and write the address.
    text = _cleaned(url)
    if _CONTROL.search(text):
        raise BadInput("the URL holds control characters")
    if len(text) > LONGEST:
        raise BadInput(f"the URL is longer than {LONGEST} characters")
    if not _sendable(text):
        raise BadInput("the URL cannot be read (it holds half a character: a lone surrogate)")
    written = _address(text, hash_bang)
    if len(written) > LONGEST:
        raise BadInput(f"the URL is longer than {LONGEST} characters once escaped")
    return written


def _cleaned(url: str) -> str:
    """Return a URL as browsers read it: without tabs and line ends, and with slashes for backslashes before its
    query."""
    text = url.strip(" \t\r\n")
    if _UNCLEAN.search(text) is None:
        return text
    text = text.translate(_REMOVED)
    if "\\" not in text:
        return text
    head = _BEFORE_QUERY.match(text)
    end = head.end() if head else 0
    return text[:end].replace("\\", "/") + text[end:]


def names_user(url: object) -> bool:
    """Return whether a written URL has a user or a password, even empty ones. `address` removes them."""
    if not isinstance(url, str) or "@" not in url:
        return False
    parts = _PARTS.match(_cleaned(url[:LONGEST_WRITTEN]))
    return parts is not None and "@" in (parts["authority"] or "")


def without_user(url: str) -> str:
    """Return a URL without its user and password. A URL without them is returned unchanged."""
    if "@" not in url:
        return url
    parts = _PARTS.match(text := _cleaned(url))
    if parts is None or "@" not in (parts["authority"] or ""):
        return url
    start, end = parts.span("authority")
    return text[:start] + parts["authority"].rpartition("@")[2] + text[end:]


def resolved(base: str, reference: str) -> str:
    """Return the target of a reference on the page `base`, which is http or https, as browsers resolve it.

    Raises:
        BadInput: The text is no reference, such as `http://`, which urljoin would resolve to the base.
    """
    text = _cleaned(reference)
    if _NO_HOST.match(text):
        raise BadInput("it names no host")
    if match := _SCHEME.match(text):
        # With the scheme of the page and fewer than two slashes, browsers read a path of the same host.
        scheme, slashes, rest = match["scheme"], match["slashes"], text[match.end("scheme") + 1 :]
        if base[: base.find(":")].lower() == scheme.lower() and len(slashes) < 2:
            text = rest if slashes or not rest else f"./{rest}"
        else:
            text = f"{scheme}://{rest.lstrip('/')}"
    elif text.startswith("//"):
        text = f"//{text.lstrip('/')}"
    try:
        return urljoin(base, text)
    except ValueError as error:
        raise BadInput(f"it is no URL ({error})") from None


def _sendable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _address(text: str, hash_bang: bool) -> str:
    """Return the address of a URL without tabs, line ends and control characters. Raise BadInput."""
    if match := _SCHEME.match(text):  # browsers accept any number of slashes after http:, also none
        text = f"{match['scheme']}://{text[match.end() :]}"
    parts = _PARTS.match(text)
    scheme = parts["scheme"].lower() if parts else ""
    if parts is None or scheme not in _DEFAULT_PORT:
        raise BadInput("the URL is not http or https")
    # Write each part in its usual spelling.
    authority = _authority(scheme, parts["authority"] or "")
    path = _without_dots(_escaped(parts["path"], _PATH_CHARACTERS)) or "/"
    query = "" if parts["query"] is None else "?" + _escaped(parts["query"], _QUERY_CHARACTERS)
    is_hash_bang = hash_bang and (parts["fragment"] or "").startswith("!")
    fragment = "#" + _escaped(parts["fragment"], _QUERY_CHARACTERS) if is_hash_bang else ""
    return f"{scheme}://{authority}{path}{query}{fragment}"


def _authority(scheme: str, text: str) -> str:
    """Return host and port in their usual spelling, without user and password."""
    address = text.rpartition("@")[2]
    host, colon, port = address.rpartition(":")
    if not colon or "]" in port:
        host, port = address, ""
    if not host.strip("."):
        raise BadInput("the URL has no host")
    netloc = host_text(host)
    if not port:
        return netloc
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:9]) < 65_536):
        raise BadInput(f"the URL cannot be read (its port is {port[:20]!r}, not 1 to 65535)")
    return netloc if int(port) == _DEFAULT_PORT[scheme] else f"{netloc}:{int(port)}"


def _escaped(text: str, allowed: frozenset[str]) -> str:
    """Return a text with all characters escaped except those `allowed`; existing escapes stay."""
    if allowed.issuperset(text):
        return text
    return "".join(c if len(c) == 3 or c in allowed else _escape(c) for c in _TOKEN.findall(text))


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _without_dots(path: str) -> str:
    """Return a path without the segments `.` and `..` (RFC 3986, section 5.2.4)."""
    if "/." not in path:
        return path
    remaining: list[str] = []
    segments = path[1:].split("/")
    for segment in segments:
        if segment == "..":
            del remaining[-1:]
        elif segment != ".":
            remaining.append(segment)
    if segments[-1] in (".", ".."):
        remaining.append("")
    return "/" + "/".join(remaining)


def normal(written: str, extra: Callable[[str], str] | None = None) -> str:
    """Return the normal form of an address, whose digest is the key.

    Args:
        written: The address.
        extra: The user's function for a last step. It takes the normal form and returns a URL.

    Raises:
        BadInput: The user's function raises an error, or returns no URL.
    """
    form = _normal(written)
    if extra is None:
        return form
    # Call the user's function, and bring its result into the normal form.
    try:
        own = extra(form)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"the crawler's own canonical step failed ({type(error).__name__}: {error})"[:300]) from error
    if own == form:
        return form
    try:
        return _normal(address(own, hash_bang=True))
    except BadInput as error:
        raise BadInput(f"the crawler's own canonical step made no URL of it ({error})"[:300]) from None


def _normal(written: str) -> str:
    if _PLAIN.match(written):
        return written
    front, _, fragment = written.partition("#")
    front, _, query = front.partition("?")
    scheme, _, netloc, path = front.split("/", 3)
    # Make escapes uniform, remove sessions and tracking arguments, and sort the other arguments.
    path, _ = _distinct_path("/" + "".join(_uniform(token) for token in _TOKEN.findall(path)))
    arguments, _ = _distinct_arguments(query)
    pairs = (f"{quote_plus(name)}={quote_plus(value)}" for name, value in sorted(arguments))
    query = "?" + "&".join(pairs) if arguments else ""
    fragment = "#" + "".join(_uniform(token) for token in _TOKEN.findall(fragment)) if fragment else ""
    return f"{scheme}//{netloc}{_without_dots(path) or '/'}{query}{fragment}"


def _uniform(token: str) -> str:
    """Return the one spelling of a character of an address, escaped or not."""
    if len(token) == 1:
        return token
    plain = chr(int(token[1:], 16))
    return plain if plain in _SAME_UNESCAPED else token.upper()


def _distinct_path(path: str) -> tuple[str, int]:
    """Return (path without sessions, number of sessions in it)."""
    if ";" not in path and "(" not in path:
        return path, 0
    segments: list[str] = []
    sessions = 0
    for segment in path.split("/"):
        # Remove parameters after a semicolon, such as ";jsessionid=…", and segments of ASP.NET.
        first, *parameters = segment.split(";")
        others = [text for text in parameters if not _is_surplus(text.partition("=")[0], text.partition("=")[2])]
        sessions += len(parameters) - len(others)
        if _ASP_SESSION.fullmatch(first) and not others:
            sessions += 1
        else:
            segments.append(";".join([first, *others]))
    text = "/".join(segments)
    return text if text.startswith("/") else f"/{text}", sessions


def _distinct_arguments(query: str) -> tuple[list[tuple[bytes, bytes]], int]:
    """Return (unescaped arguments of a query that distinguish pages, number of the other arguments)."""
    distinct: list[tuple[bytes, bytes]] = []
    others = 0
    for text in query.split("&"):
        name, _, value = text.replace("+", " ").partition("=")
        if _is_surplus(name, value):
            others += 1
        elif text:
            distinct.append((unquote_to_bytes(name), unquote_to_bytes(value)))
    return distinct, others


def _is_surplus(name: str, value: str) -> bool:
    """Return whether an argument, as the URL has it, does not distinguish pages."""
    plain = unquote_to_bytes(name).decode("latin-1").strip().lower().partition("[")[0].rstrip()
    if plain in _TRACKING_NAMES or plain.startswith(_TRACKING_BEGINS):
        return True
    return plain in HASHED and _DIGEST.fullmatch(unquote_to_bytes(value).decode("latin-1")) is not None


_MAY_BE_SURPLUS = re.compile("[?;(]")


def surplus(written: str) -> int:
    """Return the number of arguments and sessions in an address that its key does not depend on."""
    if not _MAY_BE_SURPLUS.search(written):
        return 0
    front, _, query = written.partition("#")[0].partition("?")
    path = front.split("/", 3)[3]
    _, sessions = _distinct_path(f"/{path}")
    _, arguments = _distinct_arguments(query) if query else ([], 0)
    return sessions + arguments


def filled(steps: Sequence[str]) -> list[str]:
    """Return the steps of a path without empty ones. The last step stays, and so does an empty step after a colon,
    because the path may contain a URL."""
    last = len(steps) - 1
    return [
        step for index, step in enumerate(steps) if step or index == last or (index and steps[index - 1].endswith(":"))
    ]


def empty_steps(steps: Sequence[str]) -> int:
    """Return the number of steps that `filled` leaves out."""
    return len(steps) - len(filled(steps))


def path_repeats(url: str) -> int:
    """Return the number of repetitions in a URL: repeated steps of the path, repeated names of arguments, empty steps.

    Steps that are numbers, such as those of dates, do not count. Repetitions are a sign of a trap. A relative link that
    a server answers at any depth makes paths without end, whose steps recur or are empty. A link to the page itself
    with one more argument makes queries without end, whose names recur.
    """
    path, _, query = url.partition("?")
    all_steps = path.split("/")[3:]
    steps = [step for step in all_steps if step and not step.isdigit()]
    repeats = len(steps) - len(set(steps))
    if query:
        names = [argument.partition("=")[0] for argument in query.split("&")]
        repeats += len(names) - len(set(names))
    return repeats + empty_steps(all_steps) if "" in all_steps[:-1] else repeats


def folder(url: str) -> str:
    """Return a URL without its query and without the last step of its path."""
    return url.partition("?")[0].rpartition("/")[0]


def cleaner(one: str, other: str) -> str:
    """Return the one of two addresses of a page with the smaller `surplus`; the first if they are equal in that."""
    return other if other != one and surplus(other) < surplus(one) else one


def spell(url: str, extra: Callable[[str], str] | None = None) -> str:
    """Return the normal form of a written URL: one text for all its spellings.

    Raises:
        BadInput: The URL cannot name a page.
    """
    return normal(address(url), extra)


class Rules:
    """The rules by which one crawl makes addresses and keys, with a cache. Thread-safe.

    Args:
        extra: The user's function for a last step of the normal form (`normal`).
        hash_bang: Keep fragments that begin with `!`.
    """

    def __init__(self, extra: Callable[[str], str] | None = None, hash_bang: bool = False) -> None:
        self._own_step, self._hash_bang = extra, hash_bang
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._page)

    def page(self, url: str) -> tuple[str, str]:
        """Return (address, key) for a written URL.

        Raises:
            BadInput: The URL cannot name a page.
        """
        long = isinstance(url, str) and len(url) > LONGEST_REMEMBERED
        return self._page(url) if long else self._remembered(url)

    def key(self, written: str) -> str:
        """Return the key of an address.

        Raises:
            BadInput: The user's function fails.
        """
        return key_of(normal(written, self._own_step))

    def _page(self, url: str) -> tuple[str, str]:
        if self._own_step is None and isinstance(url, str) and len(url) <= LONGEST and _PLAIN.match(url):
            return url, key_of(url)  # most URLs equal their addresses and normal forms
        written = address(url, self._hash_bang)
        return written, self.key(written)
