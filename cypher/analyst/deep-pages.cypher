// Valuable pages that are far from the seeds
//
// A row is a page that the fewest links from a seed reach in `least` clicks or more, the best first. Readers, and other
// crawlers, hardly come so far. A page to which no links lead from a seed is among the orphans, or behind one.
//
// group     Structure
// param     least  clicks
// param     times  only pages that have at least so many times the mean authority of all pages inside the scope
// param     limit  how many pages
// computed  deep_pages
// cost      every link
:param least => 4;
:param times => 0.0;
:param limit => 50;
