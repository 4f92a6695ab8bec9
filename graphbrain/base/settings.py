"""All settings, with their defaults and meanings, in one frozen object.

Settings are read once. An argument takes precedence over a `GRAPHBRAIN_…` variable, a variable over the value that the
brain in the database has, and that value over the defaults below. There are three kinds. *Client* settings belong to
this process. *Shared* ones are stored on the (:Brain) node, so that all workers use the same. They can be changed at
any time; a process that opens the brain changes them only with `change_settings`. *Fixed* ones are written to the node
when the brain is created, and cannot be changed by a later opening.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import socket
import uuid
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.model import PARTS
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.numeric.methods import LIVE, METHODS, ORDERS, factors
from graphbrain.base.urls import host_rules
from graphbrain.base.urls.hostnames import HostList
from graphbrain.base.urls.patterns import patterns_in, text_of

__all__ = [
    "CHOICES",
    "ENGINES",
    "HOST_LISTS",
    "LARGEST",
    "LONGEST",
    "LONGEST_NAME",
    "OF_OTHER_PARTS",
    "ORDERS",
    "PAYOUTS",
    "RANGES",
    "URL_LISTS",
    "VALUES",
    "InForce",
    "Settings",
    "changes",
    "checked_engine",
    "other_than",
    "parts_in",
    "to_convert",
    "typed",
    "unknown",
    "variable_of",
]

ORPHANS = ("keep", "park", "forget")
CANONICAL_LINKS = ("note", "follow")
CHANGES = ("body", "text", "blocks", "simhash")
VALUES = ("authority", "hub", "own", *METHODS)
VALUE_WORDS = (
    f"{' or '.join(VALUES)}, or a product of powers of {', '.join(LIVE)}, each with or without a floor "
    "and a number that multiplies it, as in '2*authority^.8 novelty>.25^.2'"
)

RANGES: Mapping[str, Bounds] = {
    "alpha": Bounds(0, 1, below=True),
    "eps": Bounds(0, 1, above=True),
    "intra_host_weight": Bounds(0, 1),
    "target_relevance": Bounds(0, 1),
    "settled_bound": Bounds(0, 1),
    "reach": Bounds(0, 0.99),
    "discovery_days": Bounds(0, 1e6),
    "freshness_value": Bounds(0, 1e6),
    "change_value": Bounds(0, 1e6),
    "revisit_seconds": Bounds(0, 1e9),
    "frontier_reserve": Bounds(0, 1),
    "oldest_reserve": Bounds(0, 1),
    "harvest_reserve": Bounds(0, 1),
    "delay_seconds": Bounds(0, 86_400),
    "response_times": Bounds(0, 1000),
    "longest_delay_seconds": Bounds(0, 86_400),
    "longest_block_seconds": Bounds(0, 2_592_000),
    "address_delay_seconds": Bounds(0, 86_400),
    "robots_unreachable_seconds": Bounds(0, 31_536_000),
    "lease_seconds": Bounds(1, 604_800),
    "park_after_seconds": Bounds(0, 31_536_000),
    "limit_seconds": Bounds(1, 1e6),
    "hint_recall": Bounds(0, 0.99),
    "hint_false": Bounds(0.001, 1000),
    "change_bits": Bounds(0, 64),
    "change_probability": Bounds(0, 1, below=True),
    "sections_per_host": Bounds(0, 1000),
    "max_payees": Bounds(1, LARGEST),
    "in_flight": Bounds(0, LARGEST),
    "dead_after": Bounds(0, LARGEST),
    "pages_per_host": Bounds(0, LARGEST),
    "address_in_flight": Bounds(0, LARGEST),
    "max_links": Bounds(1, LARGEST),
    "max_depth": Bounds(0, LARGEST),
    "max_errors": Bounds(1, LARGEST),
    "forgetting": Bounds(0, 1, above=True),
    "window": Bounds(0, 1e12),
    "root_share": Bounds(0, 1, below=True),
    "passes": Bounds(0, 1e9, above=True),
}
"""The bounds of numeric settings."""
PAYOUTS = ("uniform", "unfetched", "fetched", "target", "relevance", "trusted", "hosts")
ENGINES = ("exact", "classic")
WINDOW_UNITS = ("cash", "seconds")
SCORES = ("history", "history_and_cash")
RELEVANCE_RULES = ("rational", "polynomial")
NEW_HISTORIES = ("zero", "mean")
FIRST_CASH = ("pages", "root")
Kind = Literal["client", "shared", "fixed"]

CHOICES: Mapping[str, tuple[str, ...]] = {
    "payout": PAYOUTS,
    "order": ORDERS,
    "orphans": ORPHANS,
    "canonical_links": CANONICAL_LINKS,
    "change": CHANGES,
    "engine": ENGINES,
    "window_unit": WINDOW_UNITS,
    "score": SCORES,
    "relevance_rule": RELEVANCE_RULES,
    "new_history": NEW_HISTORIES,
    "first_cash": FIRST_CASH,
}
"""The allowed words of settings."""
LONGEST_NAME = 200
LONGEST = {
    **dict.fromkeys(("uri", "password"), 10_000),
    **dict.fromkeys(("allow_hosts", "deny_hosts", "target_hosts", "allow_urls", "deny_urls"), 1_000_000),
    **dict.fromkeys(("intervals", "weights", "groups", "hours"), 100_000),
}
"""Setting → the most characters of its text. All other texts have at most `LONGEST_NAME`."""
NAMES = frozenset({"crawl", "worker", "user_agent"})
HOST_LISTS = ("allow_hosts", "deny_hosts", "target_hosts")
URL_LISTS = ("allow_urls", "deny_urls")
"""The settings that are lists of regular expressions: JSON, or a single expression as it is."""
_PLAIN, _SHELLS = re.compile(r"[\w.:/,+-]*"), re.compile(r'(["$`\\])')

PREFIX = "GRAPHBRAIN_"
OF_OTHER_PARTS = frozenset(
    {
        *("GRAPHBRAIN_DATA", "GRAPHBRAIN_JAVA", "GRAPHBRAIN_JAVA_CACHE"),  # the local server
        *("GRAPHBRAIN_SERVICE_TOKEN", "GRAPHBRAIN_SERVICE_URL"),  # Client
    }
)
"""The GRAPHBRAIN_… variables that are no settings of a brain, because other parts read them."""


def _setting(default: Any, kind: Kind, meaning: str) -> Any:
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


@dataclass(frozen=True, slots=True)
class InForce:
    """One setting as a process uses it, with its source."""

    name: str
    value: Any
    source: str
    kind: Kind
    default: Any


@dataclass(frozen=True)
class Settings:
    """All settings of one brain as one process sees them. Build it with `Settings.read`."""

    uri: str = _setting("", "client", "Neo4j's address; empty: the local server that graphbrain runs")
    user: str = _setting("neo4j", "client", "Neo4j user")
    password: str = field(default="", repr=False, metadata={"kind": "client", "meaning": "Neo4j password"})
    database: str = _setting("neo4j", "client", "Neo4j database: one brain, one database")
    worker: str = _setting("", "client", "name in leases and counters; empty: host, pid and a random part")
    limit_seconds: float = _setting(60.0, "client", "seconds for which a call is tried again before it raises an error")
    auto_tend: bool = _setting(True, "client", "do upkeep after reports if no worker runs")
    share: bool = _setting(False, "client", "use a brain whose crawl has another name")
    change_settings: bool = _setting(
        False,
        "client",
        "given shared settings change those of a brain with pages; else they must equal its own",
    )

    crawl: str = _setting("crawl", "fixed", "the crawl's name")
    engine: str = _setting("exact", "fixed", "exact or classic; 'graphbrain engine' converts a brain")
    hash_bang: bool = _setting(
        False, "fixed", "a fragment that begins with #! is a part of its URL, and distinguishes pages"
    )
    window_unit: str = _setting("cash", "fixed", "classic: the unit of the window, cash or seconds")

    alpha: float = _setting(
        0.15, "shared", "least share of a page's cash that leaves the graph at each push, 0..1 (0 only for tests)"
    )
    intra_host_weight: float = _setting(
        1.0, "shared", "weight of a link inside a host, a multiple of 1/1024; 1 = as any other, 0 = none"
    )
    payout: str = _setting(
        "uniform", "shared", "which pages are paid: uniform, unfetched, fetched, target, relevance, trusted or hosts"
    )
    target_relevance: float = _setting(0.7, "shared", "relevance from which a page is a target of payouts, 0..1")
    target_hosts: str = _setting("", "shared", "hosts whose pages are paid by payout = hosts, with their subdomains")
    eps: float = _setting(0.03, "shared", "least cash for each link for which a page is pushed")
    max_payees: int = _setting(100_000, "shared", "most neighbours of a side that is pushed")
    settled_bound: float = _setting(
        0.02, "shared", "error bound above which a settling pass follows the pushes; 0 = never"
    )
    order: str = _setting("optimal", "shared", "optimal (revisits pages), best_first or breadth_first (do not)")
    value: str = _setting(
        "3*live_pagerank flow^.003 plain_path novelty>.1^.05 harvest^2",
        "shared",
        "what a page is worth to the order: authority, hub, own, a score of 'graphbrain rank'; or what a new one is",
    )
    reach: float = _setting(
        0.0,
        "shared",
        "share of its flow that a page passes on whenever it gets more; 0 = once, when it is fetched",
    )
    keep_live_pagerank: bool = _setting(False, "shared", "keep the score live_pagerank, even if value does not name it")
    value_by_relevance: bool = _setting(True, "shared", "multiply a page's value by twice its relevance")
    weights: str = _setting(
        "", "shared", "factors of the worth of pages: 'PATTERN NUMBER; …', by a regular expression in the URL"
    )
    discovery_days: float = _setting(
        20.0, "shared", "optimal: a larger number favours new pages, a smaller one fresh copies"
    )
    freshness_value: float = _setting(1.0, "shared", "optimal: the worth of a copy that is up to date")
    change_value: float = _setting(0.0, "shared", "optimal: the worth of a change that is found")
    revisit_seconds: float = _setting(86_400.0, "shared", "optimal: least time between two visits of a page")
    frontier_reserve: float = _setting(
        0.05, "shared", "optimal: share of all claims that is reserved for new pages, 0..1"
    )
    oldest_reserve: float = _setting(
        0.01, "shared", "optimal: share of all claims that is reserved for the pages that wait longest, 0..1"
    )
    harvest_reserve: float = _setting(
        0.02, "shared", "with harvest in value: share of claims of new pages that try sections with a low harvest, 0..1"
    )
    forgetting: float = _setting(
        0.98, "shared", "weight of earlier visits at each new one, when the change rate of a page is learned"
    )
    intervals: str = _setting("", "shared", "fixed intervals: 'PATTERN SECONDS; …', by a regular expression in the URL")
    delay_seconds: float = _setting(1.0, "shared", "least time between two claims of one host; 0 = none")
    in_flight: int = _setting(0, "shared", "most claims of one host at the same time; 0 = no limit")
    response_times: float = _setting(0.0, "shared", "delay of a host as a multiple of its last response time; 0 = off")
    longest_delay_seconds: float = _setting(
        300.0, "shared", "longest delay that Crawl-delay, response times and slowing down can set"
    )
    longest_block_seconds: float = _setting(86_400.0, "shared", "most seconds for which a Retry-After is obeyed")
    dead_after: int = _setting(3, "shared", "rounds of failures in a row after which a host gets only probes; 0 = off")
    pages_per_host: int = _setting(0, "shared", "most pages of one host that are fetched for the first time; 0 = all")
    address_delay_seconds: float = _setting(
        0.0, "shared", "least time between two claims of all hosts at one address; 0 = none"
    )
    address_in_flight: int = _setting(
        0, "shared", "most claims of all hosts at one address at the same time; 0 = no limit"
    )
    groups: str = _setting(
        "", "shared", "hosts that share limits: 'HOSTS delay SECONDS in_flight NUMBER; …', in place of their addresses"
    )
    hours: str = _setting("", "shared", "hours in which hosts are asked: 'HOSTS 22:00-06:00 ZONE; …', else at any time")
    user_agent: str = _setting("graphbrain", "shared", "the crawler's name, by which a robots.txt is read")
    robots_unreachable_seconds: float = _setting(
        2_592_000.0,
        "shared",
        "robots.txt as claims: seconds of failures after which a host counts as one without robots.txt",
    )
    lease_seconds: float = _setting(300.0, "shared", "seconds for which a claim is held, unless it is renewed")
    max_links: int = _setting(5_000, "shared", "most links that are kept of one page")
    max_depth: int = _setting(0, "shared", "most clicks from a seed to a page that is fetched; 0 = no limit")
    change: str = _setting("blocks", "shared", "how a change of a page is found: body, text, blocks or simhash")
    change_in: str = _setting(
        "text", "shared", f"parts of a page in which a difference is a change, between spaces: {', '.join(PARTS)}"
    )
    change_bits: int = _setting(3, "shared", "most bits of 64 in which the simhashes of an unchanged page differ")
    change_probability: float = _setting(
        0.5, "shared", "change = blocks: probability above which a difference counts as a change, not as noise"
    )
    sections_per_host: int = _setting(
        200, "shared", "most sections of a host that are learned from its visits; 0 = none"
    )
    hint_recall: float = _setting(0.7, "shared", "share of the changes that hints report, 0 to .99")
    hint_false: float = _setting(0.3, "shared", "false hints for each change that a page makes")
    orphans: str = _setting(
        "keep", "shared", "what is done with pages to which no link leads any more: keep, park or forget"
    )
    canonical_links: str = _setting(
        "note",
        "shared",
        "note: canonicals are only noted; follow: links to a page count for its canonical",
    )
    max_errors: int = _setting(5, "shared", "failures in a row after which a page is given up")
    park_after_seconds: float = _setting(
        259_200.0,
        "shared",
        "least seconds for which a page fails before it is parked; not for missing pages",
    )
    allow_hosts: str = _setting(
        "", "shared", "hosts in scope, with their subdomains, separated by spaces or commas; empty: all"
    )
    deny_hosts: str = _setting("", "shared", "hosts out of scope, with their subdomains")
    allow_urls: str = _setting(
        "", "shared", "regular expressions, one or a JSON list; a URL in scope must match one of them"
    )
    deny_urls: str = _setting(
        "", "shared", "regular expressions, one or a JSON list; a URL in scope must match none of them"
    )

    window: float = _setting(8.0, "shared", "classic: length of the window, in total cash or seconds; 0 = none")
    score: str = _setting("history", "shared", "classic: a score is the share of history, or of history_and_cash")
    root_share: float = _setting(0.0, "shared", "classic: least share of spent cash that goes to the virtual page")
    relevance_rule: str = _setting("rational", "shared", "classic: rational, or the ancestors' polynomial")
    new_history: str = _setting("zero", "shared", "classic: a new page's history, zero or mean")
    first_cash: str = _setting(
        "pages", "shared", "classic: a new page's first cash goes to it (pages), or to all (root)"
    )
    passes: float = _setting(
        16.0, "shared", "classic: pushes end when all cash was spent this often since the last change"
    )

    given: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    canonical: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    detector: Callable[[Any, Any], bool] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def read(
        cls,
        *,
        environ: Mapping[str, str] | None = None,
        canonical: Callable[[str], str] | None = None,
        detector: Callable[[Any, Any], bool] | None = None,
        **arguments: Any,
    ) -> Settings:
        """Return the settings from arguments, the environment and the defaults, in this order of precedence.

        Args:
            environ: The environment; None: that of the process.
            canonical: The user's function that makes the last step of keys.
            detector: The user's function that decides whether a page has changed.
            arguments: Settings by name. An argument that is None counts as not given.

        Raises:
            SettingsError: A name (argument or `GRAPHBRAIN_…` variable) is unknown, or a value is out of range.
        """
        # Read the variables.
        environ = os.environ if environ is None else environ
        names = cls.names()
        values: dict[str, Any] = {}
        for variable, text in environ.items():
            if not variable.startswith(PREFIX) or variable in OF_OTHER_PARTS:
                continue
            name = variable.removeprefix(PREFIX).lower()
            if name not in names:
                others = (other.removeprefix(PREFIX).lower() for other in OF_OTHER_PARTS)
                raise SettingsError(unknown(name, (*names, *others), variable_of))
            values[name] = text
        # Replace them by arguments.
        for name, value in arguments.items():
            if name not in names:
                raise SettingsError(unknown(name, names))
            if value is not None:
                values[name] = value
        # Convert the values, and give a unique name to a worker without a name.
        settings = {name: typed(name, value) for name, value in values.items()}
        if not settings.get("worker"):
            settings["worker"] = f"{socket.gethostname()[:100]}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        return cls(**settings, given=frozenset(values), canonical=canonical, detector=detector).checked()

    @classmethod
    def names(cls, *kinds: Kind) -> dict[str, Any]:
        """Return setting → its default; of the given kinds only, if any are named."""
        return {f.name: f.default for f in fields(cls) if f.metadata and (not kinds or f.metadata["kind"] in kinds)}

    @classmethod
    def meanings(cls) -> dict[str, tuple[Kind, Any, str]]:
        """Return setting → (kind, default, meaning), for the help texts and the table of docs/reference/settings.md."""
        return {f.name: (f.metadata["kind"], f.default, f.metadata["meaning"]) for f in fields(cls) if f.metadata}

    def in_force(self, given: Mapping[str, str], environ: Mapping[str, str] | None = None) -> list[InForce]:
        """Return all settings of a process that has opened a brain, with their sources. A password is not shown.

        Args:
            given: Setting → how it was given, for those that were given otherwise than by a variable.
            environ: The environment; None: that of the process.
        """
        environ = os.environ if environ is None else environ
        settings: list[InForce] = []
        for name, (kind, default, _) in self.meanings().items():
            variable = variable_of(name)
            value, source = getattr(self, name), "default" if kind == "client" else "brain"
            # Find the source: the command line, a variable, the brain or the default.
            if name in given:
                source = given[name]
            elif variable in environ:
                source = variable
                value = typed(name, environ[variable]) if kind == "shared" else value
            elif name == "worker":
                source = "made up"
            elif value == default:
                source = "default"
            shown = "(not shown)" if name == "password" and value else value
            settings.append(InForce(name, shown, source, kind, default))
        return settings

    def with_stored(self, stored: Mapping[str, Any]) -> Settings:
        """Return these settings with the fixed and shared ones among the properties of a brain."""
        return replace(self, **{name: stored[name] for name in self.names("fixed", "shared") if name in stored})

    def unlike(self, brain: Settings) -> dict[str, Any]:
        """Return name → value of those shared settings that were given and that mean something else than a brain's."""
        return {
            name: getattr(self, name)
            for name in self.names("shared")
            if name in self.given and _meant(name, getattr(self, name)) != _meant(name, getattr(brain, name))
        }

    def beyond(self, brain: Settings) -> dict[str, Any]:
        """Return the same as `unlike`, without `allow_hosts` if it is a part of the brain's scope."""
        return {
            name: value
            for name, value in self.unlike(brain).items()
            if name != "allow_hosts" or not _within(value, brain.allow_hosts)
        }

    def checked(self) -> Settings:
        """Return the settings themselves if all values are possible. Raise SettingsError otherwise."""
        # Rules that are neither a range nor a choice of words.
        named = parts_in(self.change_in)
        rules = (
            ("intra_host_weight", (self.intra_host_weight * 1024).is_integer(), "a multiple of 1/1024"),
            ("target_hosts", self.payout != "hosts" or bool(self.target_hosts.strip()), "hosts while payout is hosts"),
            ("value", self.value in VALUES or factors(self.value) is not None, VALUE_WORDS),
            ("user_agent", bool(self.user_agent.strip()), "a name"),
            ("payout", self.engine != "classic" or self.payout == "uniform", "uniform under the classic engine"),
            ("crawl", bool(self.crawl.strip()), "a name"),
            ("change_in", bool(named) and {*named} <= {*PARTS}, f"some of {', '.join(PARTS)}"),
        )
        ranges = ((name, bounds.hold(getattr(self, name)), str(bounds)) for name, bounds in RANGES.items())
        choices = ((name, getattr(self, name) in words, " or ".join(words)) for name, words in CHOICES.items())
        for name, is_possible, requirement in (*ranges, *choices, *rules):
            if not is_possible:
                raise SettingsError(f"{name} must be {requirement}, not {getattr(self, name)!r:.80}.")
        host_rules.groups(self.groups)
        host_rules.hours(self.hours)
        # Texts, which are stored on the brain.
        for name, default in self.names().items():
            if isinstance(default, str) and (fault := _unfit(name, getattr(self, name))):
                raise SettingsError(fault)
        return self


def parts_in(text: str) -> list[str]:
    """Return the parts of a page that the setting `change_in` names."""
    return text.replace(",", " ").split()


def changes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return new values of shared settings, in their types. `checked` tests later whether they are possible.

    Raises:
        SettingsError: A name is no setting, or is one that cannot be changed on a brain that exists; or a value has
            another type.
    """
    others = sorted(set(given) - set(Settings.names("shared")))
    if others and others[0] not in Settings.names():
        raise SettingsError(unknown(others[0], Settings.names("shared")))
    if others:
        hint = f"; {to_convert(str(given['engine']))}" if others[0] == "engine" else ""
        raise SettingsError(f"{others[0]} cannot be changed on a brain that exists{hint}.")
    return {name: typed(name, value) for name, value in given.items()}


def checked_engine(engine: str) -> str:
    """Return the name of an engine. Raise SettingsError if there is no such engine."""
    if engine not in ENGINES:
        raise SettingsError(f"The engine must be {' or '.join(ENGINES)}, not {engine!r:.80}.")
    return engine


def typed(name: str, value: Any) -> Any:
    """Return a text or a number in the type of the setting's default. Raise SettingsError if it has another type."""
    default = Settings.names()[name]
    try:
        if isinstance(default, bool):
            return _flag(value)
        # A whole number must be one that Neo4j can store; any other number must be finite.
        if isinstance(default, int):
            whole = int(value)
            if whole != float(value) or abs(whole) >= LARGEST:
                raise ValueError
            return whole
        if isinstance(default, float):
            number = float(value)
            if not math.isfinite(number):
                raise ValueError
            return number
        # A list of regular expressions may be a list or a text.
        if name in URL_LISTS and isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
            return text_of(value)
        if not isinstance(value, str):
            raise ValueError
        return text_of(patterns_in(value)) if name in URL_LISTS else value
    except (TypeError, ValueError, OverflowError):
        kind = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}[type(default)]
        raise SettingsError(f"{name} must be {kind}, not {value!r:.80}.") from None


def _unfit(name: str, text: str) -> str:
    """Return a sentence with the reason why a text cannot be this setting; empty if it can.

    The length is limited because all workers read the text again and again, and because names are in indexes.
    """
    most = LONGEST.get(name, LONGEST_NAME)
    if len(text) > most:
        return f"{name} must have at most {most:,} characters, not {len(text):,}."
    if any("\ud800" <= c <= "\udfff" for c in text):
        return f"{name} must be text that can be sent, not {text!r:.80}."
    if name in NAMES and text and not text.isprintable():
        return f"{name} must be a name, not {text!r:.80}."
    if name in HOST_LISTS and text.strip():
        try:
            HostList.of(text)
        except BadInput as error:
            return f"{name} must be hosts, as in 'a.example b.example:8080', but {error}."
    return ""


def _meant(name: str, value: Any) -> Any:
    """Return a value in the form in which settings are compared: the order of a list does not count."""
    if name in URL_LISTS:
        return frozenset(patterns_in(value))
    if name in HOST_LISTS and value.strip():
        return HostList.of(value)
    return value


def _within(hosts: str, scope: str) -> bool:
    """Return whether a list of hosts is a part of another one. An empty list means all hosts."""
    if not hosts.strip() or not scope.strip():
        return not scope.strip()
    part, whole = HostList.of(hosts), HostList.of(scope)
    at_port = {(host, port) for host, port in part.at_port if host not in whole.anyway}
    return part.anyway <= whole.anyway and at_port <= whole.at_port


def other_than(brain: Settings, given: Mapping[str, Any], from_environment: Container[str]) -> str:
    """Return the error message for shared settings that are not the brain's, with the remedies.

    Args:
        brain: The settings of the brain.
        given: Setting → the value that was given.
        from_environment: The settings that variables have given.
    """
    first, it = next(iter(given)), "it" if len(given) == 1 else "them"
    # Name the settings that differ.
    differences = [f"{name} ({_short(getattr(brain, name))}, not {_short(value)})" for name, value in given.items()]
    if len(differences) > 2:
        differences[1:] = [f"{len(differences) - 1} more settings"]
    # Explain how to keep the brain's values: unset the variables, or leave out the arguments.
    variables = [f"GRAPHBRAIN_{name.upper()}" for name in given if name in from_environment]
    keep = f"unset {' '.join(variables[:2])}{' …' * (len(variables) > 2)}" if variables else f"leave {it} out"
    # Explain how to change them, or how to add to a list of hosts.
    assigned = " ".join(_assigned(name, value) for name, value in given.items())
    if len(assigned) > 50:
        assigned = f"{first}=…"
    if len(given) == 1 and first in HOST_LISTS and getattr(brain, first) and given[first]:
        addition = _assigned(f"{first}+", given[first])
        how = f": 'graphbrain change {addition}' adds to it, {assigned} replaces it, as does"
    else:
        how = f" with 'graphbrain change {assigned}' or"
    return (
        f"This brain has another {' and '.join(differences)}: {keep} to keep its own, or change {it} for all{how} "
        "change_settings=True."
    )


def added(name: str, before: Any, more: str) -> str:
    """Return a list of hosts or patterns with further ones. Raise SettingsError for a setting that is no list, and for
    one that is empty because all hosts or URLs are in the scope."""
    lists = (*HOST_LISTS, *URL_LISTS)
    if name not in lists:
        raise SettingsError(f"{name} is no list: give {name}=VALUE. Lists are {', '.join(lists)}.")
    kind, example = ("hosts", "other.example") if name in HOST_LISTS else ("URLs", "/pattern/")
    if not more.replace(",", " ").split():
        raise SettingsError(f"Give the {kind} to be added, as in {name}+={example}.")
    if name.startswith("allow_") and not before:
        raise SettingsError(f"{name} is empty, so all {kind} are in the scope: there is nothing to be added.")
    if name in URL_LISTS:
        return text_of((*patterns_in(before), *patterns_in(more)))
    return " ".join(dict.fromkeys(f"{before} {more}".replace(",", " ").split()))


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:38]}…{shown[-1]}"


def _assigned(name: str, value: Any) -> str:
    """Return NAME=VALUE, quoted for a shell if needed."""
    word = ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    if _PLAIN.fullmatch(word):
        return f"{name}={word}"
    escaped = _SHELLS.sub(r"\\\1", word)
    return f'"{name}={escaped}"'


def unknown(name: str, names: Iterable[str], shown: Callable[[str], str] = repr) -> str:
    """Return the message for an unknown setting. It names a similar setting, or else all settings."""
    candidates = sorted(names)
    near = difflib.get_close_matches(name, candidates, 1, 0.7) or [
        other for other in candidates if len(name) > 3 and (other.startswith(f"{name}_") or other.endswith(f"_{name}"))
    ]
    hint = f"did you mean {shown(near[0])}?" if near else f"there are {', '.join(candidates)}."
    return f"{shown(name)} is not a setting; {hint}"


def variable_of(name: str) -> str:
    """Return the environment variable of this setting."""
    return f"{PREFIX}{name.upper()}"


def to_convert(engine: str) -> str:
    """Return a clause with the command that converts a brain to an engine."""
    return f"convert it with 'graphbrain engine {engine}'"


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ValueError
