"""The meaning of a report by its status, whether it was reported as fetched or as failed.

A crawler may report any answer as a fetched page, and a page as a failure. The status decides whether the visit failed,
and whether the links in the report are all links of the page, a part of them, or none. RFC 9110, section 15.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from graphbrain.base.model import Failed, Fetched, Link, Report

__all__ = ["Meant", "meant"]

Completeness = Literal["all", "some", "any", "none"]
"""The share of a page's links that a report has.

all: every link; links that it does not list are deleted. some: a part; other links stay. any: as `all` if the report
has a link, otherwise as `none`. none: no link.
"""

NOT_MODIFIED = 304
PERMANENT = frozenset({301, 308})
TEMPORARY = frozenset({302, 303, 307})
WHOLE = frozenset({200, 203})
"""With these statuses an answer without links is a page without links."""
EMPTY = frozenset({204, 205})
CONTENT = ("body", "body_hash", "text_hash", "simhash", "blocks", "shingles", "parts")
"""Fields of a report that describe a page's content."""
PAGE_FACTS = (
    *("title", "canonical", "canonicals", "noindex", "nofollow", "language", "size", "content_type", "titles"),
    *("descriptions", "h1", "words", "hreflang", "requisites", "structured", "password_field"),
)
"""Fields of a report that state facts of a page, in the order of the block `facts` of visits/write. There the seconds
of its fetch follow."""
_NO_FACTS: dict[str, Any] = {field.name: field.default for field in fields(Fetched) if field.name in PAGE_FACTS}
PART = frozenset({206, 226})
"""Statuses of an answer that is a range of the page, or the difference to an earlier version."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The meaning of a report.

    Attributes:
        report: The report in the form that its status demands.
        links: The links of the page.
        completeness: The share of the page's links that `links` are.
        follows: True for a temporary redirect. The last URL of `led_to` is its target. A redirect that the crawler did
            not follow has `redirected_to`, too.
    """

    report: Report
    links: Iterable[str | Link] = ()
    completeness: Completeness = "none"
    follows: bool = False


def meant(report: Report) -> Meant:
    """Return the meaning of a report whose values have been checked."""
    if isinstance(report, Failed):
        if report.status != NOT_MODIFIED or report.error:
            return Meant(report)
        return Meant(_not_modified(report))
    status = 200 if report.status is None else report.status
    # The status means an error, a redirect, an unchanged page, or a page.
    if status < 200 or status >= 400:
        return Meant(_failed(report), report.links, "some")
    if report.redirected_to is not None:
        return _redirect(report, status)
    if status == NOT_MODIFIED or report.not_modified:
        return Meant(replace(report, status=NOT_MODIFIED, not_modified=True, links=()))
    if status in TEMPORARY and report.led_to:
        return _temporary_redirect(report)
    if status >= 300:
        return Meant(_failed(report), report.links, "some")
    return _page(report, status)


def _not_modified(report: Failed) -> Fetched:
    return Fetched(
        report.url, (), report.claim, NOT_MODIFIED, not_modified=True, fetched_at=report.fetched_at,
        seconds=report.seconds, address=report.address,
    )  # fmt: skip


def _failed(report: Fetched) -> Failed:
    return Failed(
        report.url, report.claim, report.status, fetched_at=report.fetched_at, seconds=report.seconds,
        address=report.address,
    )  # fmt: skip


def _redirect(report: Fetched, status: int) -> Meant:
    """Return the meaning of an answer with `redirected_to`. A permanent redirect makes the page an alias. A temporary
    one was not followed, so that its target has not been fetched."""
    bare = _without_content(report)
    if status in PERMANENT or status < 300 or status == NOT_MODIFIED:
        return Meant(replace(bare, not_modified=False, etag=None, last_modified=None), (), "all")
    return _temporary_redirect(replace(report, led_to=(report.redirected_to or "",), links=()))


def _temporary_redirect(report: Fetched) -> Meant:
    """Return the meaning of a temporary redirect, followed or not. All content and facts in the report belong to the
    target, which is another page, and are removed."""
    bare = replace(_without_content(report), not_modified=False, etag=None, last_modified=None)
    bare = replace(bare, relevance=None, value=None, **_NO_FACTS)
    return Meant(bare, report.links, "all", follows=True)


def _page(report: Fetched, status: int) -> Meant:
    if status in PART:
        # Validators would name the whole page: with them, the server would never send the missing part.
        bare = replace(_without_content(report), etag=None, last_modified=None)
        return Meant(bare, report.links, "some")
    if status in EMPTY:
        return Meant(_without_content(report), report.links, "some")
    # A report without content may omit the links: an empty list of links then does not delete those of the page.
    content = any(getattr(report, name) is not None for name in CONTENT)
    nothing = report.body is not None and not len(report.body)
    if nothing or (not content and (report.changed is False or status not in WHOLE)):
        return Meant(report, report.links, "any")
    return Meant(report, report.links, "all")


def _without_content(report: Fetched) -> Fetched:
    bare: dict[str, Any] = dict.fromkeys(CONTENT)
    return replace(report, links=(), changed=None, **bare)
