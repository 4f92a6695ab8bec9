"""The pages and hosts that callers name."""

from __future__ import annotations

from graphbrain.base.errors import BadInput, UnknownPage
from graphbrain.base.urls.hostnames import named
from graphbrain.base.urls.normalization import is_key
from graphbrain.brain.session import Session
from graphbrain.content import input_checks
from graphbrain.frontier.hosts.admin import unknown
from graphbrain.frontier.reports.report_intake import unreadable

__all__ = ["Names"]


class Names:
    """Resolves names of pages and hosts, by the URL rules of one brain and the hosts in its graph."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def page(self, url: str) -> tuple[str, str]:
        """Return the canonical URL and the key of a page. Raise BadInput for a URL that names no page, and if the
        user's `canonical` raises."""
        try:
            return self._session.rules.page(url)
        except Exception as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(unreadable(error)) from None

    def key_of(self, url: str) -> str | None:
        """Return the key of the page that a URL names; None if the URL names no page."""
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
        """Return the key of a page and its URL; None for the URL if the page was named by its key."""
        key = self.key(url)
        return key, None if is_key(url) else self.page(url)[0]

    def key_in_graph(self, url: str) -> str:
        """Return the key of a page that is in the graph, named by URL or key. Raises UnknownPage."""
        key = self.key(url)
        if not self._session.graph.read(lambda tx: tx.one("pages/find", keys=[key])[0], "pages/find"):
            raise UnknownPage(f"{url} is not in the graph.")
        return key

    def host(self, host: object) -> str:
        """Return the graph's name of a host that a caller names. Raise BadInput if it names no host."""
        try:
            given = named(host)
        except BadInput as error:
            raise BadInput(f"{host!r:.80} names no host ({error}); name it as in 'www.example.org'.") from None
        if given.literal == given.name:
            return given.name
        # The name without the port means one scheme's usual port. The graph may have a host of the other scheme with
        # this port.
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
        """Return the result of `host`; None for None."""
        return None if host is None else self.host(host)
