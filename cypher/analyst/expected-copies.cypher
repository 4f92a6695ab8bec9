// Waiting pages that are expected to equal one that was fetched
//
// A row is a page that waits for its first visit. It is expected to equal the page of `equals`, which was fetched, as the
// two differ only by what `differs_by` names: ?sort is an argument, /print a step of the path, /article or /print two
// steps in place of each other. Of `compared` pages of the host that differ in this alone `equal` had the same content,
// among its last thousand visits; `expected` is the share that is expected to. Hosts come by name, their pages in
// the order of the store. Pages are looked up by the rules of URLs without a canonical step of the crawler's own.
//
// group     Content
// param     host  only this host; empty: all of which something was learned
// param     limit  how many pages
// computed  expected_copies
// cost      every page
:param host => '';
:param limit => 100;
