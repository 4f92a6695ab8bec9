"""Trust in a sitemap's dates on generated sites, without a server."""

from __future__ import annotations

import pytest

from graphbrain_lab.bench import trust


def test_a_generated_site_has_the_dates_that_were_asked_for() -> None:
    site = trust.generate(2_000, 50, 0.5, 1)
    true = (site.dates & site.changes).sum()
    assert true / site.dates.sum() == pytest.approx(0.5, abs=0.02)
    assert true / site.changes.sum() == pytest.approx(0.9, abs=0.02)
    honest = trust.generate(100, 20, 1.0, 1)
    assert honest.dates.any() and not (honest.dates & ~honest.changes).any()


def test_all_visits_find_all_changes_and_none_finds_none() -> None:
    site = trust.generate(50, 20, 0.5, 1)
    for mode in trust.MODES:
        assert trust.crawl(site, mode, 50).found == 1.0
        assert trust.crawl(site, mode, 0).found == 0.0


def test_the_share_of_true_dates_is_learned_by_the_crawl() -> None:
    """It is learned too small where half of the dates are true: a crawl that follows true dates finds changes at short
    intervals, and so believes that pages change more often than they do."""
    found = {share: trust.crawl(trust.generate(300, 100, share, 1), "learned", 30) for share in (1.0, 0.5, 0.1)}
    assert found[1.0].true > 0.9 and 0.2 < found[0.5].true < 0.6 and found[0.1].true < 0.15, found
    assert trust.crawl(trust.generate(300, 100, 0.5, 1), "fixed", 30).true == pytest.approx(0.7)


def test_a_sitemap_that_lies_costs_nothing_once_it_is_known() -> None:
    site = trust.generate(300, 100, 0.1, 1)
    learned, fixed, without = (trust.crawl(site, mode, 30).found for mode in trust.MODES)
    assert learned > 0.95 * without and learned > 1.5 * fixed, (learned, fixed, without)


def test_dates_save_visits() -> None:
    """Sitemaps with true dates need fewer visits than none; with learned trust hardly more than with fixed trust."""
    rows = {row.trust: row.visits for row in trust.needed(100, 60, 1.0, 1)}
    assert rows["learned"] < 0.7 * rows["none"] and rows["learned"] < 1.2 * rows["fixed"], rows
