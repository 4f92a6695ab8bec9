// The state of the crawl, host by host
//
// A row is a host, the largest first. `frontier` pages wait to be fetched for the first time; `failing` ones are in any
// state and did not answer properly when they were last tried.
//
// group     Progress
// param     limit  how many hosts
// cost      every page
:param limit => 50;

MATCH (p:Page)
WITH p.host AS host, p.state AS state, CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN 1 END AS fails
RETURN host, count(*) AS pages, count(CASE state WHEN 'known' THEN 1 END) AS known,
       count(CASE state WHEN 'frontier' THEN 1 END) AS frontier, count(CASE state WHEN 'outside' THEN 1 END) AS outside,
       count(CASE WHEN state IN ['gone', 'parked', 'alias'] THEN 1 END) AS left, count(fails) AS failing
ORDER BY pages DESC, host LIMIT $limit
