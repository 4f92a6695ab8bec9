// Count the pages of each host in a range of internal ids: by state, those that fail by fault, and those that a sitemap
// names. A host without a name is that of pages which were deleted while they were read.
//
// param   first     INTEGER  the first id
// param   last      INTEGER  the last id
// column  name      STRING   the host
// column  pages     INTEGER  all of them
// column  known     INTEGER  that are fetched
// column  frontier  INTEGER  that wait for their first visit, or are claimed for it; those that have failed do not count
// column  outside   INTEGER  outside the scope, or forbidden by robots.txt
// column  left      INTEGER  gone, parked, or redirects
// column  failing   INTEGER  whose last visit failed
// column  sitemap   INTEGER  that a sitemap names
// column  client    INTEGER  of those that fail: with 4xx
// column  refused   INTEGER  with 429 or 503
// column  broken    INTEGER  with another 5xx, 408, 421, 423 or 425
// column  silent    INTEGER  without an answer
// column  other     INTEGER  otherwise
// rows    many
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH p.host AS host, p.state AS state, p.in_sitemap AS named,
     CASE WHEN coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) THEN
     CASE WHEN p.status IN [429, 503] THEN 'refused'
          WHEN p.status >= 500 OR p.status IN [408, 421, 423, 425] THEN 'broken'
          WHEN p.status >= 400 THEN 'client'
          WHEN coalesce(p.fault, 'silent') = 'silent' AND p.status IS NULL AND NOT coalesce(p.error, '') STARTS WITH 'refused: '
          THEN 'silent'
          ELSE 'other' END END AS fault
RETURN host AS name, count(*) AS pages, count(CASE state WHEN 'known' THEN 1 END) AS known,
       count(CASE WHEN state = 'frontier' AND fault IS NULL THEN 1 END) AS frontier, count(CASE state WHEN 'outside' THEN 1 END) AS outside,
       count(CASE WHEN state IN ['gone', 'parked', 'alias'] THEN 1 END) AS left, count(fault) AS failing, count(named) AS sitemap,
       count(CASE fault WHEN 'client' THEN 1 END) AS client, count(CASE fault WHEN 'refused' THEN 1 END) AS refused,
       count(CASE fault WHEN 'broken' THEN 1 END) AS broken, count(CASE fault WHEN 'silent' THEN 1 END) AS silent,
       count(CASE fault WHEN 'other' THEN 1 END) AS other
