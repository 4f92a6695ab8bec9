"""What a visit says by its status, however it was reported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain import Failed, Fetched
from graphbrain.content.report_semantics import Meant, meant

A, B = "http://a.org/", "http://b.org/"
CONTENT: dict[str, Any] = {"body": b"<p>x", "body_hash": "h", "text_hash": "t", "simhash": 7, "changed": True}
CONTENTS = st.fixed_dictionaries({}, optional={name: st.just(value) for name, value in CONTENT.items()})
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        "links": st.sampled_from([(), (B,)]),
        "redirected_to": st.sampled_from([B, A]),
        "not_modified": st.booleans(),
        "changed": st.booleans(),
        "etag": st.just('"x"'),
    },
)
STATUSES = st.one_of(st.none(), st.integers(100, 999))


@given(STATUSES, CONTENTS, OTHERS)
def test_an_error_is_the_failure_that_it_is(
    status: int | None, content: dict[str, Any], others: dict[str, Any]
) -> None:
    what = meant(Fetched(A, **{**content, **others, "status": status}))
    if status is not None and (status < 200 or status >= 400):
        assert what.report == Failed(A, status=status)
    assert isinstance(what.report, Fetched | Failed)
    assert what.report.status in (status, 304)


@given(STATUSES, CONTENTS, OTHERS)
def test_only_a_page_or_a_redirect_says_what_all_links_are(
    status: int | None, content: dict[str, Any], others: dict[str, Any]
) -> None:
    """Whatever else is told: without a page no link is gone."""
    what = meant(Fetched(A, **{**content, **others, "status": status}))
    if what.completeness == "all":
        assert isinstance(what.report, Fetched)
        assert not what.report.not_modified
        assert status is None or 200 <= status < 300 or what.report.redirected_to
    if status in (204, 205, 206, 226) and what.report.redirected_to is None:  # type: ignore[union-attr]
        assert what.completeness != "all"


@given(STATUSES, CONTENTS, OTHERS)
def test_what_is_meant_means_itself(status: int | None, content: dict[str, Any], others: dict[str, Any]) -> None:
    """Read twice, as an import reads it before it is reported, it says the same."""
    one = meant(Fetched(A, **{**content, **others, "status": status}))
    again = meant(one.report)
    assert (again.report, again.follows) == (one.report, one.follows)


@pytest.mark.parametrize(
    ("report", "what"),
    [
        (Fetched(A, [B], status=304), "not modified"),
        (Fetched(A, [B], not_modified=True), "not modified"),
        (Failed(A, status=304), "not modified"),
        (Failed(A, status=304, error="the callback raised"), "failed"),
        (Fetched(A, not_modified=True, status=404), "failed"),
        (Fetched(A, status=404, redirected_to=B), "failed"),
        (Fetched(A, status=301), "failed"),
        (Fetched(A, status=302), "failed"),
        (Fetched(A, status=999), "failed"),
        (Fetched(A, status=100), "failed"),
        (Fetched(A, status=301, redirected_to=B), "alias"),
        (Fetched(A, status=308, redirected_to=B), "alias"),
        (Fetched(A, redirected_to=B), "alias"),
        (Fetched(A, status=304, not_modified=True, redirected_to=B), "alias"),
        (Fetched(A, status=302, redirected_to=B, body=b"moved"), "follows"),
        (Fetched(A, status=307, redirected_to=B, not_modified=True), "follows"),
        (Fetched(A, status=300, redirected_to=B), "follows"),
    ],
    ids=repr,
)
def test_contradictions_are_resolved_by_the_status(report: Any, what: str) -> None:
    assert _kind(meant(report)) == what


def _kind(what: Meant) -> str:
    report = what.report
    if isinstance(report, Failed):
        return "failed"
    if what.follows:
        return "follows"
    if report.redirected_to is not None:
        return "alias"
    return "not modified" if report.not_modified else "page"


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (Fetched(A), "all"),
        (Fetched(A, body=b"<p>x"), "all"),
        (Fetched(A, [B], changed=False), "any"),
        (Fetched(A, changed=False, body=b"<p>x"), "all"),
        (Fetched(A, body=b""), "any"),
        (Fetched(A, status=203), "all"),
        (Fetched(A, status=202), "any"),
        (Fetched(A, status=202, body_hash="x"), "all"),
        (Fetched(A, status=204, body=b"x"), "some"),
        (Fetched(A, [B], status=206, body=b"x"), "some"),
        (Fetched(A, [B], status=500), "some"),
        (Fetched(A, [B], status=304), "none"),
        (Failed(A, status=404), "none"),
    ],
    ids=repr,
)
def test_what_has_content_says_which_links_there_are(report: Any, told: str) -> None:
    assert meant(report).completeness == told


def test_of_a_part_of_a_page_nothing_is_kept_that_would_hide_the_rest() -> None:
    report = meant(Fetched(A, status=206, etag='"x"', last_modified="d", **CONTENT)).report
    assert report == Fetched(A, status=206)
