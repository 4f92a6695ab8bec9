"""Which page, host or claim is meant by what a caller names it by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from graphbrain import border, tokens
from graphbrain.brain.session import Session
from graphbrain.errors import BadInput, UnknownPage
from graphbrain.frontier.validate import unreadable
from graphbrain.hostnames import named
from graphbrain.model import Claim
from graphbrain.url import is_key

__all__ = ["Names"]


class Names:
    """Names of pages and hosts, by the URL rules and the spellings of one brain."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def page(self, url: str) -> tuple[str, str]:
        """The canonical URL and the key of a page. Raises BadInput, too, for what the user's own step raises."""
        try:
            return self._session.rules.page(url)
        except Exception as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(unreadable(error)) from None

    def key(self, url: str) -> str:
        """The key of a page named by its URL or its key. Raises BadInput for what is neither."""
        if is_key(url):
            return url
        try:
            return self.page(url)[1]
        except BadInput as error:
            raise BadInput(f"{border.shown(url)!r:.80} names no page ({error}); give its URL or its key.") from None

    def key_and_url(self, url: str) -> tuple[str, str | None]:
        """The key of a page and, when it was not named by that, its URL."""
        key = self.key(url)
        return key, None if is_key(url) else self.page(url)[0]

    def old_key(self, url: str) -> str | None:
        """The key that a page named by its URL had by older rules; None where the brain knows no such keys."""
        return self._session.old_keys(url) if self._session.was_moved and not is_key(url) else None

    def known(self, url: str) -> str:
        """The key of a page that is in the graph, named by URL or key. Raises UnknownPage."""
        key = self.key(url)
        if not self._session.graph.read(lambda tx: tx.one("pages/find", keys=[key])[0], "pages/find"):
            raise UnknownPage(f"{url} is not in the graph.")
        return key

    def host(self, host: object) -> str:
        """The name that the graph has for a host that somebody names. Raises BadInput."""
        try:
            found = named(host)
        except BadInput as error:
            raise BadInput(f"{host!r:.80} names no host ({error}); name it as in 'www.example.org'.") from None
        if found.literal == found.name:
            return found.name
        # A port that is usual for one scheme is none for the other: there may be such a host.
        rows = self._session.graph.read(lambda tx: tx.one("hosts/view", name=found.literal)[0], "hosts/view")
        return found.literal if rows else found.name

    def host_or_none(self, host: str | None) -> str | None:
        """The same, where one need not be named."""
        return None if host is None else self.host(host)

    def rounds(self, held: Sequence[object]) -> list[dict[int, str | None]]:
        """Claims by their places: the keys that their pages have now; None for what is no claim. In a moved brain
        several may be for one page, that were for several: those come in rounds, one after the other."""
        keys = [claim.key if isinstance(claim, Claim) and border.usable(claim) else None for claim in held]
        moved = {}
        if self._session.was_moved:
            # Claims say when they were made, but for those of older versions: after the move they have today's keys.
            moved_at = float(self._session.stored.get("moved_at") or math.inf)
            older = {c.key for c in held if isinstance(c, Claim) and (tokens.made_at(c.token) or 0.0) <= moved_at}
            wanted = sorted(key for key in older if is_key(key))
            if wanted:
                read = self._session.graph.read
                moved = dict(read(lambda tx: tx.one("rekey/traces", keys=wanted)[0], "rekey/traces"))
        rounds: list[dict[int, str | None]] = [{}]
        met: Counter[str] = Counter()
        for number, key in enumerate(keys):
            now = None if key is None else moved.get(key, key)
            turn = met[now] if now is not None and moved else 0
            met.update([now] if now is not None else [])
            while len(rounds) <= turn:
                rounds.append({})
            rounds[turn][number] = now
        return rounds
