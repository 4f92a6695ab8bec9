// Pages of a host that wait for a first visit, in the order of their ids.
//
// param   host   STRING   the host
// param   after  INTEGER  ids from here on
// param   limit  INTEGER  so many
// column  last   INTEGER  the id after the last of them; null where there are no more
// column  urls   LIST     their addresses
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page {host: $host}) WHERE p.state = 'frontier' AND p.first_fetched IS NULL AND id(p) >= $after
WITH p ORDER BY id(p) LIMIT $limit
WITH collect(id(p)) AS ids, collect(p.url) AS urls
RETURN CASE WHEN size(ids) = $limit THEN ids[-1] + 1 END AS last, urls
