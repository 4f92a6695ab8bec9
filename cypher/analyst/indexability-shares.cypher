// How many pages search engines can index, and why not the others
//
// A row is the first reason of its pages, as in indexability, or `indexable`. `share` is that of the pages inside the scope;
// there is none of pages outside.
//
// group     Structure
// param     host  only this host; empty: all
// cost      every page
// computed  indexability_shares
:param host => '';
