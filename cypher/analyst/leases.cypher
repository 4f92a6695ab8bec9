// Who holds what, and for how long
//
// A row is a worker that holds pages now. A worker whose `first_lapses` is soon, and whose pages do not become fewer,
// may have died: what it holds comes back by itself when the lease lapses.
//
// group     Progress

MATCH (p:Page) WHERE p.lease_until > timestamp() / 1000.0
RETURN p.worker AS worker, count(*) AS pages, datetime({epochSeconds: toInteger(min(p.lease_until))}) AS first_lapses,
       collect(p.url)[..3] AS such_as
ORDER BY pages DESC
