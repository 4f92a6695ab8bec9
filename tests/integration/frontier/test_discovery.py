"""How pages and links come into the graph."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import pytest

from graphbrain import Brain, Failed, Fetched, Hint, Link
from graphbrain.base.errors import BadInput
from graphbrain.base.model import SeedAnswer
from graphbrain.base.urls.normalization import USER_LEFT_OUT
from tests.integration.conftest import START, Going, HandClock, crowd
from tests.plugin import PATIENCE, Neo4j
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"


def pass_until(done: Callable[[], bool], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.05)


def test_seeds_become_pages_of_the_frontier(brain: Brain) -> None:
    assert brain.seed([A, B]) == brain.seed([]).__class__(2, 0)
    page = brain.page(A)
    assert (page.state, page.is_seed, page.depth, page.discovered) == ("frontier", True, 0, START)
    assert (page.hub_score, page.authority_score) == (1.0, 1.0)
    assert page.host == "a.org"


def test_seeding_again_creates_nothing(brain: Brain) -> None:
    brain.seed([A, B])
    answer = brain.seed([B, A, C])
    assert (answer.created, answer.known) == (1, 2)


def test_spellings_of_one_page_are_one_page(brain: Brain) -> None:
    answer = brain.seed(["http://A.org", "http://a.org:80/", "http://a.org/#top", "http://a.org/?utm_source=x"])
    assert answer.created == 1
    assert brain.stats()["pages"] == 1


def test_bad_seeds_are_refused_by_item(brain: Brain) -> None:
    answer = brain.seed([A, "ftp://a.org/", "mailto:x", "http://", "http://a.org/" + "x" * 9000])
    assert answer.created == 1
    assert [url[:10] for url, _ in answer.refused] == [
        "ftp://a.or",
        "mailto:x",
        "http://",
        "http://a.o",
    ]
    assert all(reason for _, reason in answer.refused)


def test_the_answer_tells_what_was_written(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_errors=1, park_after_seconds=0.0, orphans="park", deny_hosts="out.org")
    out, gone, parked, barred, lost = (f"http://{name}.org/" for name in ("out", "gone", "parked", "barred", "lost"))
    brain.report([Fetched(A, [B]), Failed(gone, status=404), Failed(parked, status=500)])
    brain.seed([barred])
    brain.set_robots("barred.org", "User-agent: *\nDisallow: /")
    brain.forget(lost, for_ever=True)
    clock.pass_(1.0)
    answer = brain.seed([A, B, C, out, gone, parked, barred, lost, "mailto:x", "http://A.org/#x"])
    told = (answer.created, answer.known, answer.outside, answer.gone, answer.forgotten, len(answer.refused))
    assert told == (1, 2, 2, 2, 1, 2)
    remarks = dict(answer.remarks)
    assert remarks.keys() == {out, gone, parked, barred}
    assert "scope" in remarks[out]
    assert "robots.txt" in remarks[barred]
    assert (remarks[gone], remarks[parked]) == ("it was gone: it waits again", "it was parked: it waits again")
    assert dict(answer.refused)[lost] == "it was forgotten for ever"
    states = {page.url: (page.state, page.errors) for page in brain.find()}
    assert states[gone] == states[parked] == states[C] == ("frontier", 0)
    assert states[out][0] == states[barred][0] == "outside"
    assert {gone, parked, C, B} == {claim.url for claim in brain.next_urls(20)}
    again = brain.seed([gone, C, out])
    assert (again.created, again.known, again.outside, again.gone) == (0, 2, 1, 0)


def test_of_several_who_seed_at_once_one_has_created_a_page(neo4j: Neo4j, brain: Brain, clock: HandClock) -> None:
    """By one clock, so that no time tells them apart; and by the one who asked again."""
    wanted = [f"http://h{n % 3}.org/{n}" for n in range(120)]
    answers: list[SeedAnswer] = []

    def seed(going: Going) -> None:
        with neo4j.open(crawl="test", auto_tend=False, clock=clock) as own:
            while going():
                answers.append(own.seed(wanted))
                if len(answers) >= 8:
                    return

    with crowd(*[seed] * 4):
        pass_until(lambda: len(answers) >= 8)
    assert sum(answer.created for answer in answers) == len(wanted)
    assert all(answer.created + answer.known == len(wanted) for answer in answers)
    assert brain.stats()["pages"] == len(wanted)


def test_a_seed_whose_answer_was_lost_is_still_created(brain: Brain) -> None:
    """The transaction is run again, and finds its own pages."""
    write = brain.graph.write

    def twice(work: Callable[..., object], called: str, **how: bool) -> object:
        write(work, called, **how)
        return write(work, called, **how)

    brain.graph.write = twice  # type: ignore[method-assign,assignment]
    assert brain.seed([A, B]).created == 2
    brain.graph.write = write  # type: ignore[method-assign]
    assert brain.seed([A, B]).created == 0


def test_one_url_is_no_list_of_urls(brain: Brain) -> None:
    with pytest.raises(BadInput, match="takes a list of URLs"):
        brain.seed(A)


def test_a_known_page_can_become_a_seed(brain: Brain) -> None:
    brain.report([Fetched(A, [B])])
    brain.seed([B])
    assert (brain.page(B).is_seed, brain.page(B).depth) == (True, 0)


def test_links_create_their_targets_one_click_deeper(brain: Brain) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    page = brain.page(B)
    assert (page.state, page.depth, page.is_seed, page.in_links) == ("frontier", 1, False, 1)


def test_links_fold_into_distinct_pages(brain: Brain) -> None:
    (answer,) = brain.report([Fetched(A, [B, "http://b.org", "http://B.org/#x", C])])
    assert answer.links == 2
    assert neighbours(brain, A) == ([B, C], [])
    assert brain.page(A).out_weight == 2.0


def test_new_pages_of_a_folder_are_counted_as_the_page_that_brings_them_names_them(brain: Brain, ask: Ask) -> None:
    brain.seed([A, B, f"{A}x/seed"])
    first = [f"{A}x/1", f"{A}y/1", f"{A}x/2?x/", f"{A}x/seed", f"{A}x/1", f"{A}x/3", f"{C}x/1"]
    second = [f"{A}x/3", f"{A}x/4", f"{A}x/5"]
    brain.report([Fetched(A, first), Fetched(B, second)])
    brain.report([Fetched(f"{A}x/1", [f"{A}x/4", f"{A}x/6", f"{A}x/7"])])
    told = dict(ask("MATCH (p:Page) WHERE p.siblings_before IS NOT NULL RETURN p.url, p.siblings_before"))  # type: ignore[arg-type]
    assert told == {f"{A}x/2?x/": 1, f"{A}x/3": 2, f"{A}x/5": 1, f"{A}x/7": 1}


def test_links_to_the_page_itself_are_ignored(brain: Brain) -> None:
    (answer,) = brain.report([Fetched(A, [A, "http://a.org/#here", B])])
    assert answer.links == 1
    assert neighbours(brain, A) == ([B], [])


def test_a_bad_link_is_refused_and_the_others_are_kept(brain: Brain) -> None:
    (answer,) = brain.report([Fetched(A, ["javascript:x", B, "http://c\x01.org/"])])
    assert answer.accepted
    assert [url for url, _ in answer.links_refused] == ["javascript:x", "http://c\x01.org/"]
    assert neighbours(brain, A) == ([B], [])


def test_a_user_in_a_url_is_left_out_wherever_it_comes_from_and_the_answer_says_so(brain: Brain, ask: Ask) -> None:
    seeded = brain.seed(["http://u:secret@a.org/", "http://:@a.org/2"])
    assert seeded.created == 2 and dict(seeded.remarks) == {A: USER_LEFT_OUT, f"{A}2": USER_LEFT_OUT}
    (answer,) = brain.report(
        [Fetched(A, ["http://u:secret@b.org/", C, "http://u@c.org/x"], canonical="//u:secret@a.org/c")]
    )
    assert (answer.accepted, answer.links, answer.userinfo_dropped, answer.reason) == (True, 3, 2, "")
    (own,) = brain.report([Fetched("http://u:secret@b.org/")])
    assert own.accepted and USER_LEFT_OUT in own.reason
    hinted = brain.hint([Hint("http://u:secret@b.org/new"), "http://b.org/newer"])
    assert [(hint.outcome, hint.reason) for hint in hinted] == [("new", USER_LEFT_OUT), ("new", "")]
    assert brain.crawl_now(["http://u:secret@b.org/now"]) == [True]
    brain.link("http://u:secret@d.org/", "http://u:secret@e.org/")
    assert brain.page("http://u:secret@b.org/now").url == "http://b.org/now"
    for nodes in ask("MATCH (n) RETURN properties(n)"):
        assert "secret" not in str(nodes) and "u@" not in str(nodes)


def test_tabs_line_ends_and_backslashes_are_read_as_browsers_read_them(brain: Brain) -> None:
    (answer,) = brain.report([Fetched(A, ["http://b.\torg/\n", "http:\\\\c.org\\x\\..\\"])])
    assert answer.links == 2 and neighbours(brain, A) == ([B, C], [])


def test_more_links_than_max_links_are_counted_and_left_out(make_brain: MakeBrain) -> None:
    brain = make_brain(max_links=2)
    (answer,) = brain.report([Fetched(A, [B, B, C, "http://d.org/", "http://e.org/", B])])
    assert (answer.links, answer.links_over) == (2, 2)
    assert neighbours(brain, A) == ([B, C], [])


def test_a_link_says_since_when_it_is_known(brain: Brain, clock: HandClock, ask: Ask) -> None:
    brain.report([Fetched(A, [B])])
    clock.pass_(100.0)
    brain.report([Fetched(A, [B, C])])
    rows = ask("MATCH ()-[r:LINKS]->(q:Page) RETURN q.url, r.since ORDER BY q.url")
    assert rows == [[B, START], [C, START + 100.0]]


def test_hosts_are_created_with_their_pages(brain: Brain, ask: Ask) -> None:
    brain.report([Fetched("http://a.org:8080/", [A, "http://a.org/x", "https://b.org/"])])
    rows = ask("MATCH (h:Host) RETURN h.name ORDER BY h.name")
    assert rows == [["a.org"], ["a.org:8080"], ["b.org"]]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("allow_hosts", "a.org"),
        ("deny_hosts", "b.org c.org"),
        ("allow_urls", r"//a\."),
        ("deny_urls", r"//[bc]\."),
    ],
)
def test_a_page_outside_the_scope_is_known_and_never_handed_out(
    make_brain: MakeBrain, setting: str, value: str
) -> None:
    brain = make_brain(**{setting: value})
    brain.seed([A, B])
    brain.report([Fetched("http://sub.a.org/", [C])])
    assert [claim.url for claim in brain.next_urls(10)] == [A]
    assert {brain.page(url).state for url in (B, C)} == {"outside"}
    assert brain.page(C).in_weight == 1.0


def test_a_page_beyond_max_depth_is_outside(make_brain: MakeBrain) -> None:
    brain = make_brain(max_depth=1)
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    brain.report([Fetched(B, [C])])
    assert (brain.page(C).state, brain.page(C).depth) == ("outside", 2)


def test_a_shorter_way_brings_a_page_into_the_scope(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(max_depth=1)
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    brain.report([Fetched(B, [C])])
    clock.pass_(1.0)
    brain.report([Fetched(A, [B, C])])
    assert (brain.page(C).state, brain.page(C).depth) == ("frontier", 1)
    assert [claim.url for claim in brain.next_urls(10)] == [C]


def test_a_lower_depth_is_passed_on_by_tend(make_brain: MakeBrain) -> None:
    """A chain is found from its far end; then its head turns out to be near a seed."""
    brain = make_brain(max_depth=4)
    chain = [f"http://chain.org/{n}" for n in range(8)]
    brain.seed([chain[0]])
    for page, following in itertools.pairwise(chain):
        brain.report([Fetched(page, [following])])
    assert [brain.page(url).depth for url in chain] == list(range(8))
    assert brain.page(chain[7]).state == "outside"
    brain.seed([chain[4]])
    brain.tend(None)
    assert [brain.page(url).depth for url in chain] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert brain.page(chain[7]).state == "frontier"


def test_a_page_that_gets_nearer_and_its_first_links_at_once_passes_its_depth_on(brain: Brain) -> None:
    """The batch offers the links' ends the depth that the page had, and the page another one."""
    chain = [f"http://chain.org/{n}" for n in range(5)]
    for page, following in itertools.pairwise(chain):
        brain.report([Fetched(page, [following])])
    assert brain.page(chain[4]).depth == 4
    brain.report([Fetched(A, [chain[4]]), Fetched(chain[4], [B])])
    brain.tend(None)
    assert (brain.page(chain[4]).depth, brain.page(B).depth) == (1, 2)


def test_a_depth_is_never_raised(brain: Brain, clock: HandClock) -> None:
    brain.seed([A])
    brain.report([Fetched(A, [B])])
    brain.report([Fetched(B, [C])])
    clock.pass_(1.0)
    brain.report([Fetched(A, [])])
    brain.report([Fetched(C, [B])])
    brain.tend(None)
    assert brain.page(B).depth == 1


def test_a_guess_of_relevance_comes_with_the_link(brain: Brain) -> None:
    brain.report([Fetched(A, [Link(B, 0.9), C])])
    assert brain.page(B).relevance == 0.9
    assert brain.page(C).relevance is None
    assert [claim.url for claim in brain.next_urls(2)] == [B, C]


@pytest.mark.parametrize("guesses", [[0.2, 0.9], [0.9, 0.2], [None, 0.9], [0.9, None]], ids=str)
def test_of_several_guesses_on_a_page_the_largest_holds(brain: Brain, guesses: list[float | None]) -> None:
    brain.report([Fetched(A, [Link(B, guess) for guess in guesses])])
    assert brain.page(B).relevance == 0.9


@pytest.mark.parametrize("guesses", [[0.2, 0.9], [0.9, 0.2], [None, 0.9], [0.9, None]], ids=str)
@pytest.mark.parametrize("at_once", [True, False])
def test_of_several_pages_guesses_the_largest_holds(brain: Brain, guesses: list[float | None], at_once: bool) -> None:
    visits = [Fetched(url, [Link(B, g)]) for url, g in zip((A, C), guesses, strict=True)]
    for batch in [visits] if at_once else [[visit] for visit in visits]:
        brain.report(batch)
    assert brain.page(B).relevance == 0.9


def test_a_guess_of_nothing_is_a_guess(brain: Brain) -> None:
    brain.report([Fetched(A, [B, Link(B, 0.0)])])
    assert brain.page(B).relevance == 0.0


def test_a_guess_does_not_change_a_page_that_was_fetched(brain: Brain) -> None:
    brain.report([Fetched(B, relevance=0.1)])
    brain.report([Fetched(A, [Link(B, 0.9)])])
    assert brain.page(B).relevance == 0.1


def test_the_name_in_neo4j_browser_is_tail_and_host(brain: Brain, ask: Ask) -> None:
    brain.seed(["http://a.org/x/y/last", A])
    rows = ask("MATCH (p:Page) RETURN p.name ORDER BY p.name")
    assert rows == [["a.org"], ["last (a.org)"]]


@pytest.mark.parametrize(("order", "queue"), [("best_first", None), ("breadth_first", None), ("optimal", "*")])
def test_fetched_pages_wait_where_the_order_revisits(make_brain: MakeBrain, order: str, queue: str | None) -> None:
    brain = make_brain(order=order)
    brain.report([Fetched(A, [B])])
    assert (brain.page(A).queue, brain.page(B).queue) == (queue, "*")
