"""A crawler's report of a page of a generated site: its links and facts as HTML has them, and its body."""

from __future__ import annotations

from lxml import etree

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim, Failed, Fetched, Link
from graphbrain.base.urls.normalization import resolved
from graphbrain.content.pagefacts import ELEMENTS, PageFacts
from graphbrain_lab.bench.traps.site import TrapSite

__all__ = ["read", "visit"]

KIND = "text/html; charset=utf-8"
SECONDS = 0.05
"""The seconds of a fetch, as reported."""
MISSING = (
    b"<!doctype html><html><head><title>Not found</title></head><body><h1>404: there is no such page</h1></body></html>"
)


def visit(site: TrapSite, claim: Claim) -> Fetched | Failed:
    """Return the report of a claimed page."""
    page = site.page(claim.url)
    if page is None:
        return Failed(claim.url, claim, 404, seconds=SECONDS, body=MISSING)
    if page.moved_to:
        return Fetched(claim.url, (), claim, 301, redirected_to=page.moved_to, seconds=SECONDS)
    return read(claim, site.html(page))


def read(claim: Claim, body: bytes) -> Fetched:
    """Return the report of a page with this body. It is that of demo/crawler.py, by a parser of the whole page."""
    facts, links = PageFacts(claim.url), list[Link]()
    for element in etree.fromstring(body, etree.HTMLParser(encoding="utf-8")).iter(etree.Element):
        if element.tag in ELEMENTS:
            facts.start(element.tag, dict(element.attrib))
            facts.data(element.text or "")
            facts.end(element.tag)
        elif element.tag == "a" and (href := element.get("href")):
            links.append(Link(_absolute(facts.base, href), anchor=element.text, rel=element.get("rel")))
    return Fetched(
        claim.url, links, claim, body=body, content_type=KIND, seconds=SECONDS, size=len(body), **facts.arguments()
    )


def _absolute(base: str, href: str) -> str:
    try:
        return resolved(base, href.strip())
    except BadInput:  # no URL: the brain refuses it with a reason
        return href
