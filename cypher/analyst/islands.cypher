// Parts of the graph that no link connects
//
// A row is an island: pages that reach each other by links, whichever way these lead, and nothing else. The largest is
// the crawl; others hang on seeds or hints of their own.
//
// group     Structure
// param     limit  how many islands
// param     least  only islands of so many pages
// computed  islands
// cost      every link
:param limit => 50;
:param least => 1;
