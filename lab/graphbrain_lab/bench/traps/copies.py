"""Traps of copies: the same page under other URLs, without end, or once for each page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from urllib.parse import urlsplit

from graphbrain.base.urls.normalization import normal
from graphbrain_lab.bench.traps.site import Part, TrapNode, TrapPage, TrapSite

__all__ = [
    "Attachments",
    "Cases",
    "GrowingQuery",
    "IndexFiles",
    "Mirrors",
    "Mobile",
    "Print",
    "Replies",
    "SessionInPath",
    "SessionInQuery",
    "Tracking",
]


class TrapCopies(TrapSite):
    """A site whose pages exist under other URLs, too.

    Attributes:
        of_itself: The number of links of a page to copies of itself.
        of_others: The number of its links to copies of the pages that it names.
        stays: True if the links of a copy lead to copies of the same kind.
        names_original: True if a copy has a rel=canonical.
    """

    of_itself, of_others = 1, 0
    stays, names_original = False, False

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, type(self).__name__.lower())
        made = self.tree(size)
        self.name_in_menu(made)

    def spelled(self, url: str, kind: str) -> str:
        """Return the URL of a copy of this kind of a real page."""
        raise NotImplementedError

    def original(self, url: str) -> tuple[str, str] | None:
        """Return the URL of the real page of a copy, and the kind of the copy; None for other URLs. The page may not
        exist."""
        raise NotImplementedError

    def kind(self, dice: Random) -> str:
        """Return the kind of the copies to which an original page links."""
        raise NotImplementedError

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:
        """Return links to copies of the page itself, and of the pages that it names."""
        return self._to_copies(node, dice, "")

    def strange(self, url: str) -> TrapPage | None:
        """Return the copy at this URL."""
        found = self.original(url)
        node = self.nodes.get(normal(found[0])) if found else None
        if found is None or node is None:
            return None
        dice = self.dice_of(f"copy {url}")
        links = self.links(node)
        if self.stays:
            links = tuple(replace(link, href=self.spelled(link.href, found[1])) for link in links)
        canonical = node.url if self.names_original else ""
        parts = (*self.text(node), *links, *self._to_copies(node, dice, url))
        return TrapPage(node.title, parts, repeats=(node.url,), canonical=canonical)

    def _to_copies(self, node: TrapNode, dice: Random, copy: str) -> list[Part]:
        """Return links to copies. `copy`: the URL of the copy that has the links; empty for the page itself."""
        kinds = [self.kind(dice) for _ in range(self.of_itself)]
        links = [Part(href=self.spelled(self.again(node.url, copy), kind), label=node.title) for kind in kinds]
        named = dice.sample(node.links, min(self.of_others, len(node.links)))
        kind = self.kind(dice)  # all links to other pages have the same kind
        return links + [Part(href=self.spelled(url, kind), label=label) for url, label in named]

    def again(self, url: str, copy: str) -> str:  # noqa: ARG002
        """Return the URL from which links on a copy to copies of the page itself are formed."""
        return url


def _path(url: str) -> tuple[str, str]:
    """Return scheme and host of a URL, and the rest of it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", url[len(f"{parts.scheme}://{parts.netloc}") :]


class InQuery(TrapCopies):
    """Copies that differ by an argument that changes nothing."""

    argument = ""

    def spelled(self, url: str, kind: str) -> str:
        return f"{url.partition('?')[0]}?{self.argument}={kind}"

    def original(self, url: str) -> tuple[str, str] | None:
        page, _, query = url.partition("?")
        name, _, kind = query.partition("=")
        return (page, kind) if name == self.argument else None

    def kind(self, dice: Random) -> str:
        return f"{dice.getrandbits(64):016x}"


class InPath(TrapCopies):
    """Copies of each page below another path."""

    prefix = re.compile("")

    def spelled(self, url: str, kind: str) -> str:
        root, path = _path(url)
        return f"{root}/{kind}{path}"

    def original(self, url: str) -> tuple[str, str] | None:
        root, path = _path(url)
        found = self.prefix.match(path[1:])
        return (root + path[1 + found.end() :], found[0]) if found else None


class SessionInPath(InPath):
    """A session before the path. A page that is fetched without a session links to a new one."""

    of_itself, of_others, stays = 0, 3, True
    prefix = re.compile(r"s-[0-9a-f]{16}")

    def kind(self, dice: Random) -> str:
        return f"s-{dice.getrandbits(64):016x}"


class SessionInQuery(InQuery):
    """A session as an argument that no list of session names has."""

    of_itself, of_others, stays, argument = 0, 3, True, "visitor"


class Tracking(InQuery):
    """An argument with the origin of a visit, under a name that only this site uses."""

    of_itself, of_others, stays, argument = 0, 4, False, "came_from"


class Replies(InQuery):
    """A copy for each comment that can be answered. It names the original as its canonical URL."""

    of_itself, argument, names_original = 4, "replyto", True

    def kind(self, dice: Random) -> str:
        return str(dice.randrange(10_000, 100_000))


class Attachments(InQuery):
    """Attachments of each page, which redirect to it for good (Arachni#159)."""

    of_itself, argument = 3, "attachment"

    def kind(self, dice: Random) -> str:
        return str(dice.randrange(10_000, 100_000))

    def strange(self, url: str) -> TrapPage | None:
        copy = super().strange(url)
        return copy and TrapPage(copy.title, (), repeats=copy.repeats, moved_to=copy.repeats[0])


class Print(InQuery):
    """A print version of each page, and a version to be sent by mail."""

    of_itself, argument = 2, "version"

    def kind(self, dice: Random) -> str:
        return dice.choice(("print", "mail"))


class Mobile(InPath):
    """A mobile version of each page. Its links lead to mobile versions, and the original is its canonical URL."""

    of_itself, stays, names_original = 1, True, True
    prefix = re.compile("m(?=/)")

    def kind(self, dice: Random) -> str:  # noqa: ARG002
        return "m"


class Mirrors(InPath):
    """Three mirrors of the whole site in separate folders. Each page names one of its mirrors."""

    of_itself, stays = 1, True
    prefix = re.compile(r"mirror-[1-3](?=/)")

    def kind(self, dice: Random) -> str:
        return f"mirror-{dice.randint(1, 3)}"


class Cases(TrapCopies):
    """A server that ignores case, and links with any case."""

    of_itself, of_others = 1, 2

    def spelled(self, url: str, kind: str) -> str:
        root, path = _path(url)
        dice, steps = Random(kind), path.split("/")
        return root + "/".join(dice.choice((str.upper, str.title, str.capitalize))(step) for step in steps)

    def original(self, url: str) -> tuple[str, str] | None:
        root, path = _path(url)
        return root + path.lower(), ""

    def kind(self, dice: Random) -> str:
        return str(dice.getrandbits(32))


class IndexFiles(TrapCopies):
    """Each page is a folder, whose index has several names."""

    of_itself, of_others = 1, 2
    _files = re.compile(r"(?:index\.(?:html?|php|asp)|default\.aspx)\Z")

    def spelled(self, url: str, kind: str) -> str:
        return f"{url.rstrip('/')}/{kind}"

    def original(self, url: str) -> tuple[str, str] | None:
        found = self._files.search(url)
        if found is None:
            return None
        folder = url[: found.start()]
        return (folder if normal(folder) in self.nodes else folder.rstrip("/")), found[0]

    def kind(self, dice: Random) -> str:
        return dice.choice(("index.html", "index.htm", "index.php", "index.asp", "default.aspx"))


class GrowingQuery(TrapCopies):
    """Each page links to itself with one more argument (Norconex/crawler#28, projectdiscovery/katana#122)."""

    of_itself = 3

    def spelled(self, url: str, kind: str) -> str:
        return f"{url}{'&' if '?' in url else '?'}opt={kind}"

    def original(self, url: str) -> tuple[str, str] | None:
        page, mark, query = url.partition("?")
        return (page, "") if mark and all(each.startswith("opt=") for each in query.split("&")) else None

    def kind(self, dice: Random) -> str:
        return str(dice.randrange(2, 40))

    def again(self, url: str, copy: str) -> str:
        return copy or url
