// Pages that no page links to
//
// They came by a hint, a sitemap, or as a seed, or have lost their last link; or they link to each other in a circle to
// which no other page links. A page to which a redirect leads is not among them, nor one that redirects. `hinted_by` is
// the kind of the hint that named them last. A page in a sitemap to which no page links can hardly be found by readers. While pages wait to be
// fetched, links of theirs may still lead to these: an answer has the number of those that wait. Pages outside the scope
// are not among them: who links to those is mostly not known.
//
// group     Structure
// param     seeds  also seeds, to which no page need link
// param     host  only this host; empty: all
// param     limit  how many pages
// computed  orphans
// cost      every page and every link
:param seeds => false;
:param host => '';
:param limit => 100;
