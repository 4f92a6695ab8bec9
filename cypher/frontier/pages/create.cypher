// Create the pages that are not in the graph and were not forgotten for ever, and their hosts.
//
// param   rows   LIST   [key, url, host, name, depth, is_seed, state, lane, relevance or null, in_weight,
//                       payout or null for 1, history, url_surplus or null, waiting since,
//                       path_repeats or null, flow or null for none, siblings_before or null, live_pagerank or null,
//                       harvest or null for 1, url_weight or null for 1],
//                       sorted by key
// param   hosts  LIST   the names of their hosts, sorted
// param   account  MAP  the account that a page is created with
// param   mark   STRING   the token of the caller, which recognises by it the pages that it has created, or null
// param   now    FLOAT  seconds since the epoch
// column  made   LIST   [key, id] of each; a key that was forgotten for ever is missing
// rows    one
// locks   the index entry of each new host, in order of names; of each key, in key order, and the new pages
// mode    write
// retry   safe   MERGE on unique keys
CALL () {
  UNWIND $hosts AS name
  MERGE (h:Host {name: name})
  ON CREATE SET h.discovered = $now
}
UNWIND $rows AS row
OPTIONAL MATCH (f:Forgotten {key: row[0]})
WITH row, f WHERE f IS NULL
MERGE (p:Page {key: row[0]})
ON CREATE SET p.url = row[1], p.host = row[2], p.name = row[3], p.depth = row[4], p.is_seed = CASE WHEN row[5] THEN true END,
  p.state = row[6], p.relevance = row[8], p.discovered = $now, p.waiting_since = row[13], p.lane = row[7],
  p.out_weight = 0.0, p.in_weight = row[9],
  p += $account, p.payout = row[10], p.hub_history = row[11], p.authority_history = row[11],
  p.url_surplus = row[12], p.path_repeats = row[14], p.flow = row[15], p.siblings_before = row[16],
  p.live_pagerank = row[17], p.harvest = row[18], p.url_weight = row[19],
  p.last_lease = $mark,
  p.outside_because = CASE row[6] WHEN 'outside' THEN 'scope' ELSE null END,
  p.queue = CASE row[6] WHEN 'frontier' THEN '*' ELSE null END
RETURN collect([row[0], id(p)]) AS made
