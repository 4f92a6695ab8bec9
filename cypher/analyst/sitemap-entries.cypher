// Faults of sitemaps, page by page
//
// A row is a page, the best first. `problem` is the first reason, as in indexability, why a page that a sitemap lists cannot be
// indexed: it does not answer 200, redirects, is blocked, asks not to be found, or names another as its canonical. `no sitemap
// lists it`: it can be indexed, and sitemaps list other pages of its host. `its date is wrong`: its sitemap dated a change more
// than a day after the last one that visits since that date have found. Pages that are not fetched yet are left out.
//
// group     Structure
// param     host  only this host; empty: all
// param     problem  only this problem; empty: all
// param     limit  how many pages
// cost      every page
// computed  sitemap_entries
:param host => '';
:param problem => '';
:param limit => 100;
