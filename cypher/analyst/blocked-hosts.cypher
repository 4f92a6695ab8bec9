// Hosts that are blocked or backed off
//
// A row is a host that is not asked before `until`: after its answer (429, 503, Retry-After), after failures, or
// because it was blocked by hand.
//
// group     Errors
// param     limit  how many hosts
:param limit => 100;

MATCH (h:Host) WHERE h.blocked_until > timestamp() / 1000.0
RETURN coalesce(h.errors, 0) AS complaints, datetime({epochSeconds: toInteger(h.blocked_until)}) AS until,
       COUNT { (p:Page {host: h.name}) } AS pages, h.name AS host
ORDER BY pages DESC, host LIMIT $limit
