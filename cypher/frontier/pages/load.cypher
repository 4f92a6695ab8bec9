// Create pages with all they have: only `import` does this, into an empty brain.
//
// param   rows   LIST   [key, url, host, name, depth, is_seed, state, queue, lane, waiting_since, discovered, relevance,
//                       out_weight, in_weight, hub_priority, authority_priority, hub_rank, authority_rank, six numbers
//                       of the accounts, status, fetched, visits, first_fetched, changed, last_lease, last_outcome,
//                       body_hash, etag, last_modified, outside_because, url_surplus, value, flow,
//                       flow_paid, path_repeats, siblings_before, flow_priority, live_pagerank,
//                       live_pagerank_paid, live_pagerank_priority, url_weight]; null where a page lacks the property
// column  ids    LIST   their internal ids, in the order of the rows
// rows    one
// locks   the index entry of each key, and the new pages
// mode    write
// retry   once   the caller looks for the pages before it tries again
UNWIND $rows AS row
CREATE (p:Page {key: row[0], url: row[1], host: row[2], name: row[3], depth: row[4], is_seed: row[5], state: row[6],
  queue: row[7], lane: row[8], waiting_since: row[9], discovered: row[10], relevance: row[11], out_weight: row[12],
  in_weight: row[13], hub_priority: row[14], authority_priority: row[15], hub_rank: row[16], authority_rank: row[17],
  hub_history: row[18], hub_cash: row[19], hub_paid: row[20], authority_history: row[21], authority_cash: row[22],
  authority_paid: row[23], status: row[24], fetched: row[25], visits: row[26], first_fetched: row[27], changed: row[28],
  last_lease: row[29], last_outcome: row[30], body_hash: row[31], etag: row[32], last_modified: row[33],
  outside_because: row[34], url_surplus: row[35], value: row[36],
  flow: row[37], flow_paid: row[38], path_repeats: row[39], siblings_before: row[40], flow_priority: row[41],
  live_pagerank: row[42], live_pagerank_paid: row[43], live_pagerank_priority: row[44], url_weight: row[45]})
RETURN collect(id(p)) AS ids
