// Which pages will be handed out next, politeness aside
//
// The first rows are handed out first. A smaller lane goes before a larger one, and within a lane whoever waits
// longer. Pages whose host has to wait, and pages that are visited again under the order `optimal`, come when it is
// their turn.
//
// group     Planning
// param     limit  how many pages
:param limit => 20;

MATCH (p:Page) WHERE p.queue = '*' AND p.lane >= 0 AND p.waiting_since IS NOT NULL
RETURN p.depth AS depth, p.lane AS lane, p.authority_history + p.authority_cash AS authority,
       datetime({epochSeconds: toInteger(p.waiting_since)}) AS waiting_since, p.url AS url
ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
