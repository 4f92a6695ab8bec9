// Pages that search engines cannot index, and why
//
// A row is a page with the first `reason` of these, in this order, and all others in `also`: not fetched yet, blocked by
// robots.txt, outside the scope, no answer, 5xx, 4xx, permanent redirect, temporary redirect (or a refresh in 0 seconds), not
// HTML or PDF, noindex, canonical to another, soft 404 (its text is like an error page of its host). The best page first. A page
// without any reason is `indexable`.
//
// group     Structure
// param     host  only this host; empty: all
// param     reason  only this first reason, or indexable; empty: all but these, not fetched yet, and outside the scope
// param     limit  how many pages
// cost      every page
// computed  indexability
:param host => '';
:param reason => '';
:param limit => 100;
