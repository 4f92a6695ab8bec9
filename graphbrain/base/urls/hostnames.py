"""The uniform spelling of host names, which come from URLs, settings, commands and robots.txt.

Names are mapped by UTS 46 as in browsers (non-transitional) and bounded by RFC 1035. Labels of other scripts are
written in Punycode. There are no further rules, because there are hosts with underscores, with hyphens anywhere, and
with emoji. A host whose last label is a number is an IPv4 address, and is written as one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import idna

from graphbrain.base.errors import BadInput

__all__ = ["USUAL_PORT", "HostList", "NamedHost", "domains", "host_and_port", "host_text", "is_loopback", "named"]

USUAL_PORT = {"http": 80, "https": 443}
LONGEST_NAME, LONGEST_LABEL = 253, 63
LONGEST_TEXT = 2_000
"""Most characters of a host as it is written. It may be longer than its name, because characters may be escaped."""

# Names that need no change: labels of lower-case letters, digits, hyphens and underscores. The last one is no number.
_PLAIN = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)*(?!(?:[0-9]+|0x[0-9a-f]*)\Z)[a-z0-9_-]{1,63}\Z", re.ASCII | re.DOTALL
)
_NEVER = re.compile("[\x00-\x20\x7f%<>\"'\\\\^`{|}#/:?@*\\[\\]]")
"""Characters that no host name contains after it was unescaped and mapped."""
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_BETWEEN = re.compile(r"[\s,;]+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


class NamedHost(NamedTuple):
    """A host as a user wrote it.

    Attributes:
        host: The host without a port.
        port: The port; None if the text has none.
        scheme: The scheme; None if the text was no origin.
    """

    host: str
    port: int | None = None
    scheme: str | None = None

    @property
    def name(self) -> str:
        """The name of the host in the graph: with the port, unless that is the usual one of the scheme, or of any
        scheme if there is none."""
        usual = USUAL_PORT.values() if self.scheme is None else (USUAL_PORT[self.scheme],)
        return self.host if self.port is None or self.port in usual else f"{self.host}:{self.port}"

    @property
    def literal(self) -> str:
        """The name with the port as written, for hosts such as `http://a.example:443`."""
        return self.host if self.port is None else f"{self.host}:{self.port}"


def host_text(host: str) -> str:
    """Return the uniform spelling of a host without a port: in lower case, without a dot at the end, IPv6 in brackets.

    The function returns its own results unchanged.

    Raises:
        BadInput: The text is no host name; the message has the reason.
    """
    return host if _PLAIN.match(host) else _spelled(host)


def host_and_port(text: str) -> tuple[str, int | None]:
    """Return (host, port) of a text as in a URL: `xn--bcher-kva.example`, 8080 for `Bücher.example.:8080`.

    The port is None if the text has none.

    Raises:
        BadInput: The text is no host name.
    """
    head, colon, tail = text.rpartition(":")
    if not colon or "]" in tail:
        return host_text(text), None
    if not (tail.isascii() and (tail.isdigit() or not tail)):
        raise BadInput(f"a host's port is a number, not {_shown(tail)}")
    if len(tail) > 10 or not int(tail or "1") <= 65_535:
        raise BadInput(f"a port is at most 65535, not {_shown(tail)}")
    return host_text(head), int(tail) if tail else None


def is_loopback(name: str) -> bool:
    """Return whether a name or an address, without a port, is that of this machine alone."""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def named(text: object) -> NamedHost:
    """Return the host that a user has written: `a.example`, `A.example.`, `a.example:8080`, or `https://a.example/`.

    Raises:
        BadInput: The text names no host. The message continues a sentence that begins with the text.
    """
    if not isinstance(text, str):
        raise BadInput(f"a host is named by text, not by {type(text).__name__}")
    # Split the scheme off.
    rest, scheme = text.strip(), None
    before, separator, after = rest.partition("://")
    if separator:
        scheme, rest = before.lower(), after
        if scheme not in USUAL_PORT:
            raise BadInput("only hosts of http and https are crawled")
    rest = rest[2:] if not separator and rest.startswith("//") else rest
    # Refuse a user, a path and a query.
    if "@" in rest:
        raise BadInput("a host is named without a user")
    rest, slash, path = rest.partition("/")
    if not rest:
        raise BadInput("there is no host" if not slash else "that is a path, not a host")
    if path or "?" in rest or "#" in rest:
        raise BadInput("a host is named without a path")
    # Add the brackets of an IPv6 address: users may leave them out.
    if rest.count(":") > 1 and "[" not in rest:
        rest = f"[{rest}]"
    return NamedHost(*host_and_port(rest), scheme)


@dataclass(frozen=True, slots=True)
class HostList:
    """The hosts that a setting names, with their subdomains.

    Attributes:
        anyway: Hosts with any port; "" for all hosts.
        at_port: (host, port) of hosts with one port. The port is that of the graph: empty for the usual one.
    """

    anyway: frozenset[str]
    at_port: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> HostList:
        """Return the hosts in a text, separated by spaces, commas or semicolons.

        A host has one of the forms of `named`, or is `.a.example` or `*.a.example`. `*` means all hosts.

        Raises:
            BadInput: A part of the text names no host; the message quotes it.
        """
        anyway, at_port = set[str](), set[tuple[str, str]]()
        entries = [entry for entry in _BETWEEN.split(text) if entry]
        if not entries:
            raise BadInput("there is no host in it")
        # Sort the hosts by whether they have a port.
        for entry in entries:
            try:
                parsed = _entry(entry)
            except BadInput as error:
                raise BadInput(f"{entry[:80]!r} names none: {error}") from None
            if parsed.port is None:
                anyway.add(parsed.host)
            else:
                at_port |= {(parsed.host, name[len(parsed.host) + 1 :]) for name in (parsed.name, parsed.literal)}
        return cls(frozenset(anyway), frozenset(at_port))

    def holds(self, name: str) -> bool:
        """Return whether a host of the graph, or a domain above it, is in the list."""
        entries = domains(name)
        return not (self.anyway.isdisjoint(entries) and self.at_port.isdisjoint(entries))


@lru_cache(maxsize=20_000)
def domains(name: str) -> tuple[str | tuple[str, str], ...]:
    """Return the entries of a `HostList` that name a host of the graph: itself and the domains above it, each with any
    port and with the port of the host; last, all hosts. The scope asks for them for each link of a report."""
    domain, colon, port = name.rpartition(":")
    if not colon or name.endswith("]"):
        domain, port = name, ""
    entries: list[str | tuple[str, str]] = []
    while domain:
        entries += domain, (domain, port)
        domain = domain.partition(".")[2]
    return (*entries, "", ("", port))


def _entry(text: str) -> NamedHost:
    if text == "*":
        return NamedHost("")
    before, separator, host = text.rpartition("://")
    if host.startswith(("*.", ".")):
        host = host.lstrip("*")[1:]
    if "*" in host:
        raise BadInput("a '*' is only allowed for all subdomains, as in '*.a.example'")
    return named(f"{before}{separator}{host}")


@lru_cache(maxsize=20_000)
def _spelled(host: str) -> str:
    """Return the uniform spelling of a host that is not plain. Raise BadInput."""
    if len(host) > LONGEST_TEXT:
        raise BadInput(f"the host's name is longer than {LONGEST_NAME} characters")
    if "%" in host:
        host = _unescaped(host)
    # Write an IPv6 address, which may have brackets.
    brackets = _BRACKETS.fullmatch(host)
    if brackets or (":" in host and host.isascii()):
        return f"[{_ipv6(brackets[1] if brackets else host)}]"
    # Map the characters of a name.
    try:
        mapped = host.lower() if host.isascii() else idna.uts46_remap(host, std3_rules=False, transitional=False)
    except idna.IDNAError:
        raise BadInput("the host's name holds a character that no host name may hold") from None
    if never := _NEVER.search(mapped):
        raise BadInput(f"the host's name holds {_shown(never[0])}, so it is not a host name")
    mapped = mapped.removesuffix(".")
    if not mapped:
        raise BadInput("there is no host")
    # Write each label in ASCII. A name that ends with a number is an IPv4 address.
    labels = [_label(label) for label in mapped.split(".")]
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(labels)
    text = ".".join(labels)
    if len(text) > LONGEST_NAME:
        raise BadInput(f"the host's name is longer than {LONGEST_NAME} characters")
    return text


def _unescaped(host: str) -> str:
    try:
        return unquote_to_bytes(host).decode("utf-8")
    except UnicodeError:
        raise BadInput("the host's escapes are not UTF-8, so it is not a host name") from None


def _label(label: str) -> str:
    if not label:
        raise BadInput("the host's name has an empty label between two dots")
    # Do not encode a label that is too long: its Punycode is not shorter, and takes quadratic time.
    if not label.isascii() and len(label) <= LONGEST_LABEL:
        label = f"xn--{label.encode('punycode').decode('ascii')}"
    if len(label) > LONGEST_LABEL:
        raise BadInput(f"a label of the host's name is longer than {LONGEST_LABEL} characters")
    return label


def _ipv4(labels: list[str]) -> str:
    """Return an IPv4 address as browsers and resolvers read it: up to four numbers, decimal, octal or hexadecimal."""
    try:
        numbers = [_number(label) for label in labels]
    except ValueError:
        numbers = []
    *first, last = numbers or [-1]
    if len(numbers) > 4 or any(number > 255 for number in first) or not 0 <= last < 256 ** (5 - len(numbers)):
        raise BadInput("the host's last label is a number, but it is no IPv4 address")
    value = last + sum(number << (24 - 8 * position) for position, number in enumerate(first))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(label: str) -> int:
    if not label.isalnum():  # int() would accept signs and underscores
        raise ValueError
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if label.startswith("0") else 10)


def _ipv6(text: str) -> str:
    try:
        if "%" in text:
            raise AddressValueError
        address = IPv6Address(text)
    except AddressValueError:
        raise BadInput("the host is no IPv6 address") from None
    mapped = address.ipv4_mapped
    if mapped is None:
        return address.compressed
    return f"::ffff:{int(mapped) >> 16:x}:{int(mapped) & 0xFFFF:x}"  # versions of Python write these differently


def _shown(text: str) -> str:
    return repr(text.encode("utf-8", "replace").decode())[:40]
