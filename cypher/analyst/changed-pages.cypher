// Pages that have changed since a date
//
// Pages of which a visit in these days found another content than the one before, the latest change first. `changes`
// of `visits` found it changed.
//
// group     Changes
// param     days  how many days back
// param     limit  how many pages
// cost      every page
:param days => 7.0;
:param limit => 100;

MATCH (p:Page) WHERE p.changes > 0 AND p.changed >= timestamp() / 1000.0 - $days * 86400
RETURN datetime({epochSeconds: toInteger(p.changed)}) AS changed, p.changes AS changes, p.visits AS visits,
       p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY p.changed DESC, url LIMIT $limit
