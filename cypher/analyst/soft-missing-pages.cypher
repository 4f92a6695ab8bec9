// Pages that look like the host's own 404
//
// A row is a page that was fetched, and whose text differs in at most `bits` of the 64 bits of its simhash from the
// text of the host's 404 or 410: a soft 404, which should be one. The more alike come first. The body of a 404 must be
// reported by the crawler.
//
// group     Errors
// param     bits  how many bits may differ, 0 to 16
// param     limit  how many pages
// computed  soft_missing_pages
// cost      every page
:param bits => 10;
:param limit => 100;
