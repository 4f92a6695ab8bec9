"""What stands on the (:Brain), what may change it, and who is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import GraphRefused, GraphUnavailable, SettingsError
from graphbrain.base.urls.normalization import RULES_VERSION
from tests.integration.conftest import HandClock
from tests.integration.graph.test_schema import one_sentence
from tests.plugin import Neo4j

MakeBrain = Callable[..., Brain]


def test_a_fixed_setting_cannot_be_contradicted(make_brain: MakeBrain, neo4j: Neo4j) -> None:
    make_brain(window_unit="seconds")
    with pytest.raises(SettingsError, match=r"window_unit='seconds', not 'cash'") as refused:
        neo4j.open(crawl="test", window_unit="cash")
    assert one_sentence(refused.value)


def test_a_fixed_setting_that_is_not_given_is_the_brains(make_brain: MakeBrain, neo4j: Neo4j) -> None:
    make_brain(window_unit="seconds")
    with neo4j.open() as brain:
        assert (brain.settings.window_unit, brain.settings.crawl) == ("seconds", "test")


@pytest.mark.usefixtures("brain")
def test_another_crawl_is_refused(neo4j: Neo4j) -> None:
    with pytest.raises(SettingsError, match=r"crawl='test', not 'mine'.*share=True") as refused:
        neo4j.open(crawl="mine")
    assert one_sentence(refused.value)


@pytest.mark.usefixtures("brain")
def test_another_crawl_may_share(neo4j: Neo4j) -> None:
    with neo4j.open(crawl="mine", share=True) as other:
        assert other.settings.crawl == "test"


UNREADABLE = [
    {"allow_urls": "("},
    {"deny_urls": "*"},
    {"intervals": "( 5"},
    {"allow_hosts": "http://a.org/x"},
    {"deny_hosts": "a..b"},
]


@pytest.mark.usefixtures("answers_lost")
@pytest.mark.parametrize("wrong", UNREADABLE, ids=lambda wrong: next(iter(wrong)))
def test_what_cannot_be_read_never_stands_on_a_brain(
    make_brain: MakeBrain, neo4j: Neo4j, ask: Callable[[str], list[list[object]]], wrong: dict[str, str]
) -> None:
    """Else nobody could open it again."""
    brain = make_brain(lease_seconds=77.0)
    for refused in (brain.change, brain.remake):
        with pytest.raises(SettingsError):
            refused(**wrong)
    with neo4j.open(crawl="test") as other:
        assert other.settings.lease_seconds == 77.0
    ask("MATCH (b:Brain) DELETE b RETURN 1")
    with pytest.raises(SettingsError):
        neo4j.open(crawl="test", **wrong)
    assert ask("MATCH (b:Brain) RETURN count(b)") == [[0]]
    neo4j.open(crawl="test").close()


@pytest.fixture
def shared(brain: Brain, second: Brain) -> Iterator[tuple[Brain, Brain]]:
    yield brain, second


OTHERS = [
    {"allow_hosts": "b.org"},
    {"allow_hosts": ""},
    {"deny_hosts": "a.org"},
    {"allow_urls": "/b"},
    {"deny_urls": "/a"},
    {"max_depth": 3},
    {"delay_seconds": 0.5},
    {"order": "breadth_first", "lease_seconds": 77.0, "user_agent": "mine"},
]


@pytest.fixture
def going(make_brain: MakeBrain) -> Brain:
    """A brain with a scope of its own and a page."""
    brain = make_brain(allow_hosts="a.org c.org", max_depth=9)
    brain.seed(["http://a.org/"])
    return brain


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: " ".join(f"{k}={v}" for k, v in other.items()))
@pytest.mark.parametrize("by", ["argument", "environment"])
def test_an_opening_moves_nobodys_settings(
    going: Brain, neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch, other: dict[str, object], by: str
) -> None:
    """It is refused in a sentence that names the setting, and how it is changed; said so, it changes it for all."""
    before, given = going.settings, other
    if by == "environment":
        given = {}
        for name, value in other.items():
            monkeypatch.setenv(f"GRAPHBRAIN_{name.upper()}", str(value))
    first = next(iter(other))
    with pytest.raises(SettingsError, match=rf"{first}.*graphbrain change .*change_settings=True") as refused:
        neo4j.open(crawl="test", **given)
    assert one_sentence(refused.value), refused.value
    assert (f"unset GRAPHBRAIN_{first.upper()}" in str(refused.value)) == (by == "environment")
    going.tend(0)
    assert going.settings == before
    with neo4j.open(crawl="test", as_it_is=True, **given) as kept:
        assert kept.settings.allow_hosts == "a.org c.org"
    with neo4j.open(crawl="test", change_settings=True, **given) as own:
        assert {name: getattr(own.settings, name) for name in other} == other
    going.tend(0)
    assert {name: getattr(going.settings, name) for name in other} == other


def test_the_same_in_other_words_is_no_other_setting(going: Brain, neo4j: Neo4j) -> None:
    with neo4j.open(crawl="test", allow_hosts="*.c.org, A.org", max_depth="9", delay_seconds=0) as own:
        assert own.settings.allow_hosts == "a.org c.org"
    assert going.settings.allow_hosts == "a.org c.org"


@pytest.mark.parametrize("part", ["a.org", "c.org:8080", "http://c.org/", "c.org a.org:80"])
def test_an_opening_that_names_a_part_of_the_scope_keeps_it(going: Brain, neo4j: Neo4j, part: str) -> None:
    """As who has added a host, by the command that the refusal names, and starts the same program again."""
    with neo4j.open(crawl="test", allow_hosts=part) as own:
        assert own.settings.allow_hosts == "a.org c.org"
    with pytest.raises(SettingsError, match="deny_hosts"):
        neo4j.open(crawl="test", allow_hosts=part, deny_hosts="a.org")
    for more in ("d.org", f"{part} d.org"):
        with pytest.raises(SettingsError, match="graphbrain change"):
            neo4j.open(crawl="test", allow_hosts=more)
    going.change(allow_hosts="a.org c.org d.org")
    with neo4j.open(crawl="test", allow_hosts="d.org") as own:
        assert own.settings.allow_hosts == "a.org c.org d.org"
    with neo4j.open(crawl="test", change_settings=True, allow_hosts="d.org") as own:
        assert own.settings.allow_hosts == "d.org"


def test_an_opening_that_says_nothing_of_them_keeps_them(going: Brain, neo4j: Neo4j) -> None:
    with neo4j.open(crawl="test", allow_hosts=None) as own:
        assert (own.settings.allow_hosts, own.settings.max_depth) == (going.settings.allow_hosts, 9)


def test_a_brain_without_pages_takes_what_an_opening_says(brain: Brain, neo4j: Neo4j) -> None:
    neo4j.open(crawl="test", lease_seconds=77.0, allow_hosts="b.org").close()
    brain.tend(0)
    assert (brain.settings.lease_seconds, brain.settings.allow_hosts) == (77.0, "b.org")
    brain.seed(["http://b.org/"])
    brain.clear()
    neo4j.open(crawl="test", allow_hosts="c.org").close()
    brain.tend(0)
    assert brain.settings.allow_hosts == "c.org"


def test_a_change_is_taken_up_by_the_others(shared: tuple[Brain, Brain]) -> None:
    brain, second = shared
    brain.change(max_links=3, order="breadth_first")
    second.tend(0)
    assert (second.settings.max_links, second.settings.order) == (3, "breadth_first")


def test_a_change_outlives_its_process(brain: Brain, neo4j: Neo4j) -> None:
    brain.change(max_depth=7)
    with neo4j.open(crawl="test") as fresh:
        assert fresh.settings.max_depth == 7


@pytest.mark.parametrize("name", ["window_unit", "crawl", "uri", "no_such_thing"])
def test_only_shared_settings_can_be_changed(brain: Brain, name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        brain.change(**{name: 0.5})


@pytest.mark.parametrize(
    "wrong",
    [
        {"eps": 0.0},
        {"order": "worst_first"},
        {"delay_seconds": -1.0},
        {"deny_urls": "("},
        {"max_links": 2.5},
        {"lease_seconds": "long"},
        {"max_errors": None},
    ],
    ids=str,
)
def test_an_impossible_change_is_refused_and_changes_nothing(brain: Brain, wrong: dict[str, object]) -> None:
    before = brain.settings
    with pytest.raises(SettingsError):
        brain.change(**wrong)
    brain.tend(0)
    assert brain.settings == before


def test_a_full_brain_cannot_be_remade(brain: Brain) -> None:
    brain.report([Fetched("http://a.org/")])
    with pytest.raises(SettingsError, match="empty"):
        brain.remake(alpha=0.5)


@pytest.mark.usefixtures("brain")
def test_a_brain_of_other_url_rules_is_refused(neo4j: Neo4j, ask: Callable[..., list[list[object]]]) -> None:
    for version in (RULES_VERSION - 1, RULES_VERSION + 1):
        ask("MATCH (b:Brain) SET b.url_rules = $version", version=version)
        try:
            with pytest.raises(SettingsError) as refused:
                neo4j.open(crawl="test")
        finally:
            ask("MATCH (b:Brain) SET b.url_rules = $version", version=RULES_VERSION)
        assert str(refused.value) == (
            f"The keys of this brain's pages follow version {version} of the URL rules, and this graphbrain has "
            f"version {RULES_VERSION}; use the graphbrain that made it, or another database."
        )


def test_an_unknown_variable_is_refused(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBRAIN_MAX_DEPHT", "3")
    with pytest.raises(SettingsError, match="GRAPHBRAIN_MAX_DEPHT") as refused:
        neo4j.open(crawl="test")
    assert one_sentence(refused.value)


@pytest.mark.usefixtures("brain")
def test_a_variable_is_read_and_an_argument_goes_over_it(neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBRAIN_MAX_LINKS", "11")
    monkeypatch.setenv("GRAPHBRAIN_MAX_ERRORS", "12")
    with neo4j.open(crawl="test", max_errors=13) as other:
        assert (other.settings.max_links, other.settings.max_errors) == (11, 13)


def test_a_wrong_password_is_one_sentence(neo4j: Neo4j) -> None:
    with pytest.raises(GraphRefused, match="GRAPHBRAIN_PASSWORD") as refused:
        Brain.open(uri=neo4j.uri, user=neo4j.user, password="not it")
    assert one_sentence(refused.value)


def test_no_server_is_one_sentence() -> None:
    with pytest.raises(GraphUnavailable, match="GRAPHBRAIN_URI") as refused:
        Brain.open(uri="bolt://127.0.0.1:1", password="x", limit_seconds=2)
    assert refused.value.try_again
    assert one_sentence(refused.value)


def test_no_such_database_is_one_sentence(neo4j: Neo4j) -> None:
    with pytest.raises(GraphRefused, match=r"no database 'nowhere'") as refused:
        neo4j.open(database="nowhere")
    assert one_sentence(refused.value)


@pytest.mark.parametrize("uri", ["nonsense", "http://127.0.0.1:7474", "bolt://"])
def test_an_address_that_is_none_is_one_sentence(uri: str) -> None:
    with pytest.raises((GraphRefused, GraphUnavailable)) as refused:
        Brain.open(uri=uri, password="x", limit_seconds=2)
    assert one_sentence(refused.value)


@pytest.mark.usefixtures("brain")
def test_the_users_own_canonical_step_names_the_pages(neo4j: Neo4j, clock: HandClock) -> None:
    def one_page_a_host(url: str) -> str:
        return url.split("/", 3)[0] + "//" + url.split("/", 3)[2] + "/"

    with neo4j.open(crawl="test", canonical=one_page_a_host, clock=clock, auto_tend=False) as other:
        assert other.seed(["http://a.org/1", "http://a.org/2", "http://b.org/"]).created == 2
        assert other.page("http://a.org/3").url == "http://a.org/1"
