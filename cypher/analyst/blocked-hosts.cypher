// Hosts that are left alone
//
// A row is a host that is not asked before `until`: because it said so (429, 503, Retry-After), because it failed, or
// because somebody blocked it.
//
// group     Errors
// param     limit  how many hosts
:param limit => 100;

MATCH (h:Host) WHERE h.blocked_until > timestamp() / 1000.0
RETURN coalesce(h.errors, 0) AS complaints, datetime({epochSeconds: toInteger(h.blocked_until)}) AS until,
       COUNT { (p:Page {host: h.name}) } AS pages, h.name AS host
ORDER BY pages DESC, host LIMIT $limit
