// Valuable pages that are far from the seeds
//
// A row is a page that the fewest links from a seed reach in `least` clicks or more, the best first. Readers, and other
// crawlers, hardly come so far. A page to which no links lead from a seed is among the orphans, or behind one.
//
// group     Structure
// param     least  clicks
// param     limit  how many pages
// computed  deep_pages
// cost      every link
:param least => 4;
:param limit => 50;
