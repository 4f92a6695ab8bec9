// The longest URLs, which may be a crawler trap
//
// Calendars, session numbers and paths that repeat themselves make URLs that grow for ever. `repeats` is the number of
// times that the most frequent part of the path occurs in it.
//
// group     Structure
// param     limit  how many pages
// cost      every page
:param limit => 50;

MATCH (p:Page)
WITH p, size(p.url) AS length ORDER BY length DESC, p.url LIMIT $limit
WITH p, length, split(split(p.url, '?')[0], '/')[3..] AS parts
RETURN length, p.state AS state,
       reduce(most = 0, part IN parts | CASE WHEN part <> '' AND size([x IN parts WHERE x = part]) > most
                                             THEN size([x IN parts WHERE x = part]) ELSE most END) AS repeats, p.url AS url
ORDER BY length DESC, url
