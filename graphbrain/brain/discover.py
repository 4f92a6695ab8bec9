"""Pages that callers name: seeds, hints that pages have changed, and pages to be fetched at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphbrain.base.errors import BadInput
from graphbrain.base.model import ROBOTS, Hint, Hinted, HintOutcome, SeedAnswer
from graphbrain.base.options.verbs import CRAWLERS, ITEMS, OPERATORS, URL, verb
from graphbrain.base.runtime import tokens
from graphbrain.base.urls.normalization import USER_LEFT_OUT, cleaner, host_of, names_user
from graphbrain.brain.session import PASS_BATCH, Session
from graphbrain.brain.topic import Topic
from graphbrain.content import input_checks
from graphbrain.content.scope import Scope
from graphbrain.frontier.corrections import change_hints, edits, orphans
from graphbrain.frontier.corrections.change_hints import Noted
from graphbrain.frontier.corrections.edits import Seeded
from graphbrain.frontier.reports.report_intake import named, unreadable
from graphbrain.graph.connection import Tx

__all__ = ["Discovering", "applying"]

FORBIDDEN = "its host's robots.txt forbids it: it will not be fetched"


class Discovering(Topic):
    """The verbs that create pages from unknown URLs."""

    @verb(CRAWLERS, "", wakes=True, items="urls", urls=ITEMS)
    def seed(self, urls: Iterable[str]) -> SeedAnswer:
        """Make pages of these URLs, where the crawl begins. Known pages become seeds.

        A page that was given up waits again, as after `retry`. Bad URLs are refused item by item.

        Returns:
            The counts, and the pages that will not be fetched, each with the reason.
        """
        if isinstance(urls, str | bytes):
            raise BadInput("seed takes a list of URLs, not one URL.")
        session = self._session
        good: dict[str, str] = {}
        refused: list[tuple[str, str]] = []
        users: dict[str, str] = {}
        # Normalize the URLs; refuse those that cannot be read.
        for url in urls:
            try:
                written, key = session.rules.page(url)
                good[key] = cleaner(good.get(key, written), written)
                if names_user(url):
                    users[written] = USER_LEFT_OUT
            except Exception as error:  # noqa: BLE001  # an error of the user's canonical, or an item that is no text
                refused.append((input_checks.shown(url), unreadable(error)))
        answer = SeedAnswer(0, 0, tuple(refused), remarks=tuple(users.items()))
        # Write them in batches, in the order of their keys.
        keys = sorted(good)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: good[key] for key in keys[start : start + PASS_BATCH]}
            states = session.perform("pages/seed", orphans.seed, batch, tokens.token(session.now()))
            answer += _seeded(batch, states, self._session.policy.scope)
        return answer

    @verb(CRAWLERS, "answers", wakes=True, items="hints", hints={**ITEMS, "example": [{"url": URL, "kind": "ping"}]})
    def hint(self, hints: Iterable[Hint | str]) -> list[Hinted]:
        """Accept hints that pages have changed; a bare URL or key is a ping.

        An unknown page is created, one click away from where the crawl begins, if the hint has its URL. A page that was
        fetched waits as if it had not been seen for longer (settings `hint_recall`, `hint_false`), once for each hint
        that is newer than its last visit and its last hint.

        Returns:
            One answer for each hint, in their order.
        """
        session, now = self._session, self._session.now()
        answers: list[Hinted | None] = []
        of_page: dict[str, dict[int, Noted]] = {}
        # Check each hint; several of one page are applied together.
        for number, hint in enumerate(hints):
            answers.append(None)
            try:
                noted = change_hints.check(hint, session.rules, now)
                of_page.setdefault(noted.key, {})[number] = noted
            except Exception as error:  # noqa: BLE001  # an error of the user's canonical, or an item that is no hint
                answers[number] = Hinted(named(hint), False, unreadable(error))
        # Apply them in batches, and give each hint the answer of its page.
        keys = list(of_page)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: [*of_page[key].values()] for key in keys[start : start + PASS_BATCH]}
            combined = {key: change_hints.together(hinted) for key, hinted in batch.items()}
            outcomes = session.graph.write(applying(session, combined), "hints")
            for key, hinted in batch.items():
                for number, answer in zip(of_page[key], change_hints.answers(hinted, outcomes.get(key)), strict=True):
                    answers[number] = answer
        return [answer for answer in answers if answer is not None]

    @verb(OPERATORS, "will", wakes=True, items="urls", urls=ITEMS)
    def crawl_now(self, urls: Iterable[str]) -> list[bool]:
        """Claim these pages before all others, whatever became of them. URLs that are not known become pages.

        Hosts' delays hold.

        Returns:
            True for each that will be fetched. False where scope or robots.txt forbid it, where it was forgotten for
            ever, or where it is no URL.
        """
        # Find the key of each page; a URL that names none has no key.
        key_of: list[str | None] = []
        url_of: dict[str, str | None] = {}
        for url in urls:
            try:
                key, full = self._names.key_and_url(url)
                url_of[key] = full
                key_of.append(key)
            except BadInput:
                key_of.append(None)
        # Put the pages into the first lane, in batches.
        accepted: set[str] = set()
        keys = sorted(url_of)
        for start in range(0, len(keys), PASS_BATCH):
            batch = {key: url_of[key] for key in keys[start : start + PASS_BATCH]}
            accepted |= self._session.perform("crawl_now", edits.ask, batch)
        return [key in accepted for key in key_of]


def applying(session: Session, hints: Mapping[str, Noted]) -> Callable[[Tx], dict[str, HintOutcome]]:
    """Return the work of one transaction that applies these hints. It may be run again, and then returns the outcomes
    of all attempts."""
    outcomes = dict[str, HintOutcome]()
    return lambda tx: change_hints.apply(tx, hints, session.trust, session.policy, session.now(), outcomes)


def _outside(url: str, scope: Scope) -> str:
    """Return the remark on a seed outside the scope, with the setting that excludes it."""
    setting = scope.why_not(url, host_of(url), 0)
    advice = "allow_hosts+=HOST' adds a host" if setting == "allow_hosts" else f"{setting}=' lifts this limit"
    reason = (
        f" by {setting}: it will not be fetched. 'graphbrain change {advice}" if setting else ": it will not be fetched"
    )
    return f"it is outside the scope of the crawl{reason}"


def _seeded(urls: Mapping[str, str], states: Mapping[str, tuple[Seeded, Seeded]], scope: Scope) -> SeedAnswer:
    """Return the answer about these seeds (key → URL). `states`: the states of each page before and after; a page that
    was forgotten for ever is missing."""
    created = existing = outside = finished = 0
    refused: list[tuple[str, str]] = []
    remarks: list[tuple[str, str]] = []
    for key, url in urls.items():
        if key not in states:
            refused.append((url, "it was forgotten for ever"))
            continue
        # The states before and after show whether the page was created, waits again or is outside.
        before, after = states[key]
        if after.state == "outside":
            outside += 1
            remarks.append((url, FORBIDDEN if after.outside_because == ROBOTS else _outside(url, scope)))
        elif after.state != before.state:
            finished += 1
            remarks.append((url, f"it was {before.state}: it waits again"))
        elif after.created:
            created += 1
        else:
            existing += 1
    return SeedAnswer(created, existing, tuple(refused), outside, finished, len(refused), tuple(remarks))
