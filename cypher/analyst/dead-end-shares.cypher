// How much of all score ends in dead ends
//
// A row is a kind of dead end, as in dead-ends, or `goes on`. `share` is its part of the authority of all pages.
//
// group     Structure
// cost      every page

MATCH (p:Page) WHERE p.state <> 'alias'
WITH p.authority_history + p.authority_cash AS authority,
     CASE WHEN p.state = 'parked' OR coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN 'fails'
          WHEN p.state = 'outside' THEN 'outside: ' + p.outside_because
          WHEN p.first_fetched IS NULL THEN 'not fetched yet'
          WHEN NOT EXISTS { (p)-[:LINKS|LEADS_TO]->() } THEN 'has no links' ELSE 'goes on' END AS why
WITH why, count(*) AS pages, sum(authority) AS authority
WITH collect([why, pages, authority]) AS rows, sum(authority) AS total
UNWIND rows AS row
RETURN row[0] AS why, row[1] AS pages, row[2] AS authority, round(row[2] / total, 4) AS share
ORDER BY share DESC
