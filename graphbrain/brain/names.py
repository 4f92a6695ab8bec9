"""The pages, hosts and claims that callers mean by a name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from graphbrain.brain.session import Session
from graphbrain.errors import BadInput, UnknownPage
from graphbrain.hosts.admin import unknown
from graphbrain.intake import input_checks
from graphbrain.model import Claim
from graphbrain.reports.report_intake import unreadable
from graphbrain.runtime import tokens
from graphbrain.urls.hostnames import named
from graphbrain.urls.normalization import is_key
from graphbrain.urls.rules_v2 import VERSION as BETWEEN

__all__ = ["Names"]


class Names:
    """Names of pages and hosts, by the URL rules and the spellings of one brain."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def page(self, url: str) -> tuple[str, str]:
        """Return the canonical URL and the key of a page. Raise BadInput, too, in place of an error of the user's own
        step."""
        try:
            return self._session.rules.page(url)
        except Exception as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(unreadable(error)) from None

    def key_of(self, url: str) -> str | None:
        """Return the key of the page of a URL in the graph or on a page; None where it names none."""
        try:
            return self.page(url)[1]
        except BadInput:
            return None

    def key(self, url: str) -> str:
        """Return the key of a page named by its URL or its key. Raise BadInput for anything else."""
        if is_key(url):
            return url
        try:
            return self.page(url)[1]
        except BadInput as error:
            raise BadInput(
                f"{input_checks.shown(url)!r:.80} names no page ({error}); give its URL or its key."
            ) from None

    def key_and_url(self, url: str) -> tuple[str, str | None]:
        """Return the key of a page and, when it was not named by that, its URL."""
        key = self.key(url)
        return key, None if is_key(url) else self.page(url)[0]

    def old_keys(self, url: str) -> tuple[str, ...]:
        """Return the keys that a page named by its URL had by older rules, the newest first; none where the brain knows
        no such keys."""
        return () if is_key(url) else self._session.old_keys(url)

    def known(self, url: str) -> str:
        """Return the key of a page that is in the graph, named by URL or key. Raises UnknownPage."""
        key = self.key(url)
        if not self._session.graph.read(lambda tx: tx.one("pages/find", keys=[key])[0], "pages/find"):
            raise UnknownPage(f"{url} is not in the graph.")
        return key

    def host(self, host: object) -> str:
        """Return the name that the graph has for a host that a caller names. Raise BadInput."""
        try:
            given = named(host)
        except BadInput as error:
            raise BadInput(f"{host!r:.80} names no host ({error}); name it as in 'www.example.org'.") from None
        if given.literal == given.name:
            return given.name
        # A port that is usual for one scheme is none for the other: there may be such a host.
        return given.literal if self._is_known(given.literal) else given.name

    def known_host(self, host: object) -> str:
        """Return the name of a host that is in the graph, without reading its pages.

        Raises:
            BadInput: `host` names no host.
            UnknownHost: No page of the host is known.
        """
        name = self.host(host)
        if not self._is_known(name):
            raise unknown(name)
        return name

    def _is_known(self, name: str) -> bool:
        return bool(self._session.graph.read(lambda tx: tx.one("hosts/known", names=[name])[0], "hosts/known"))

    def host_or_none(self, host: str | None) -> str | None:
        """Return the same, or None for None."""
        return None if host is None else self.host(host)

    def rounds(self, held: Sequence[object]) -> list[dict[int, str | None]]:
        """Return claims by number → the key that its page has now; None for what is no claim.

        In a moved brain several claims may be for one page that were for several: those come in rounds, one after the
        other.
        """
        keys = [claim.key if isinstance(claim, Claim) and input_checks.usable(claim) else None for claim in held]
        moved = self._moved(held, keys) if self._session.was_moved else {}
        rounds: list[dict[int, str | None]] = [{}]
        met: Counter[str] = Counter()
        for number, key in enumerate(keys):
            now = None if key is None else moved.get(number, key)
            turn = met[now] if now is not None and moved else 0
            met.update([now] if now is not None else [])
            while len(rounds) <= turn:
                rounds.append({})
            rounds[turn][number] = now
        return rounds

    def _moved(self, held: Sequence[object], keys: Sequence[str | None]) -> dict[int, str]:
        """Return the number of each claim that is older than a move of the brain → the key that its page has now.

        A claim has the time at which it was made, but for those of the oldest versions: after a move they have the keys
        it gave. A brain may have been moved twice, and a key of the first rules may be that of another page by the
        second.
        """
        stored = self._session.stored
        last = float(stored.get("moved_at") or math.inf)
        first = float(stored.get("moved_first_at") or last)
        traced: dict[int, tuple[str, int]] = {}
        """Number → the key as far as it is traced, and the rules of that key, as far as they are known."""
        for number, (claim, key) in enumerate(zip(held, keys, strict=True)):
            made = tokens.made_at(claim.token) or 0.0 if isinstance(claim, Claim) else math.inf
            if is_key(key) and made <= last:
                traced[number] = (str(key), BETWEEN if made > first else 0)
        moved: dict[int, str] = {}
        asked = set(traced)
        while asked:
            traces = self._traces({traced[number][0] for number in asked})
            asked = {number for number in asked if traces.get(traced[number][0], ("", 0))[1] > traced[number][1]}
            for number in asked:
                traced[number] = traces[traced[number][0]]
                moved[number] = traced[number][0]
        return moved

    def _traces(self, keys: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return keys under which pages were leased → the keys they got, and the rules that gave them these."""
        wanted = sorted(keys)
        rows = self._session.graph.read(lambda tx: tx.one("rekey/traces", keys=wanted)[0], "rekey/traces")
        return {key: (to, rules) for key, to, rules in rows}
