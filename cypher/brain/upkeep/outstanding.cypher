// Return the brain, and the first of each kind of work that is to be done. Nothing is locked: a transaction that acts on
// what was found judges it again.
//
// param   now      FLOAT    seconds since the epoch
// param   hour     INTEGER  this hour, in hours since the epoch
// param   overdue  INTEGER  at most so many lapsed leases of pages, of resources, and failed pages
// param   beside   INTEGER  1: look for aliases, tries and lines; 0: do not
// param   lines    LIST     the lines to look at for that
// param   others   INTEGER  at most so many of news, deepened, linked
// param   visits   INTEGER  at most so many of unlearned and rising
// param   pushes   INTEGER  at most so many pages of each account
// param   least    INTEGER  the lowest priority of these
// param   fewer    INTEGER  of fewer links than that
// column  kind     STRING   one of those below
// column  found    LIST     what there is of it; a kind of which there is nothing has no row
// rows    many
// locks   none
// mode    read
// retry   safe
//
// brain          all properties of the (:Brain)
// tended         the workers that tend this brain for all processes
// lapsed         ids of pages whose lease has lapsed, the longest lapsed first
// lapsed_others  keys of resources whose lease has lapsed, the longest lapsed first
// due            ids of failed pages whose time to be tried again has come
// aliases        an alias, or a page that was given up, that is to be looked at again
// tries          a page that was chosen to try a section which is held down
// lines          those of the lines in which a resource may be claimed
// news           names of hosts whose pages have still to be judged by their robots.txt as it is now
// deepened       ids of pages whose lower depth has still to be passed on, the lowest first
// linked         pages whose in-links are to be looked at now, the longest waiting first: [id, whether it is an alias,
//                whether others name it or lead to it as if it were one, or its links count for others, or it led a seed
//                on]
// unlearned      first visits that have still to be learned from, the oldest first: [id, host, when it was, for how many
//                such visits the host waits if for more than most]
// rising         names of hosts a section of which counts for more than before, or whose pages that try sections have to be
//                chosen anew
// hub            pages whose hub cash is most worth a push, the best first: [id, priority, number of links]
// authority, flow, live_pagerank   the same of these accounts
MATCH (b:Brain {key: 'brain'})
RETURN 'brain' AS kind, collect(properties(b)) AS found
UNION ALL
MATCH (c:Hour) WHERE c.hour >= $hour - 1 AND c.worker IS NOT NULL AND c.tends_until >= $now AND c.tends_until <= $now + 20
RETURN 'tended' AS kind, collect(c.worker) AS found
UNION ALL
MATCH (p:Page) WHERE p.lease_until <= $now
WITH p ORDER BY p.lease_until LIMIT $overdue
RETURN 'lapsed' AS kind, collect(id(p)) AS found
UNION ALL
MATCH (r:Resource) WHERE r.lease_until <= $now
WITH r ORDER BY r.lease_until LIMIT $overdue
RETURN 'lapsed_others' AS kind, collect(r.key) AS found
UNION ALL
MATCH (p:Page) WHERE p.not_before <= $now
WITH p ORDER BY p.not_before LIMIT $overdue
RETURN 'due' AS kind, collect(id(p)) AS found
UNION ALL
MATCH (p:Page) WHERE p.recheck_at <= $now AND p.lease IS NULL
WITH p LIMIT $beside
RETURN 'aliases' AS kind, collect(id(p)) AS found
UNION ALL
MATCH (p:Page) WHERE p.try_at >= 0.0
WITH p LIMIT $beside
RETURN 'tries' AS kind, collect(id(p)) AS found
UNION ALL
UNWIND $lines AS line
CALL (line) {
  MATCH (q:ResourceQueue) USING INDEX q:ResourceQueue(line, at) WHERE q.line = line AND q.at <= $now
  RETURN q LIMIT $beside
}
RETURN 'lines' AS kind, collect(line) AS found
UNION ALL
MATCH (h:Host) WHERE h.robots_news = true
WITH h LIMIT $others
RETURN 'news' AS kind, collect(h.name) AS found
UNION ALL
MATCH (p:Page) WHERE p.depth_lowered >= 0
WITH p ORDER BY p.depth_lowered LIMIT $others
RETURN 'deepened' AS kind, collect(id(p)) AS found
UNION ALL
MATCH (p:Page) WHERE p.look_again <= $now
WITH p ORDER BY p.look_again LIMIT $others
RETURN 'linked' AS kind, collect([id(p), p.state = 'alias',
         EXISTS { (p)<-[:SPELLS|REDIRECTS_TO]-() } OR EXISTS { (p)-[:CANONICAL]-() } OR EXISTS { (p)-[:SEEDS]->() }]) AS found
UNION ALL
MATCH (p:Page) WHERE p.unlearned >= 0.0
WITH p ORDER BY p.unlearned LIMIT $visits
OPTIONAL MATCH (s:Site {host: p.host})
RETURN 'unlearned' AS kind, collect([id(p), p.host, p.unlearned, s.learns_after]) AS found
UNION ALL
MATCH (s:Site {raising: true})
WITH s LIMIT $visits
RETURN 'rising' AS kind, collect(s.host) AS found
UNION ALL
MATCH (p:Page) WHERE p.hub_priority >= $least AND COUNT { (p)-[:LINKS|LEADS_TO]->() } < $fewer
WITH p ORDER BY p.hub_priority DESC LIMIT $pushes
RETURN 'hub' AS kind, collect([id(p), p.hub_priority, COUNT { (p)-[:LINKS|LEADS_TO]->() }]) AS found
UNION ALL
MATCH (p:Page) WHERE p.authority_priority >= $least AND COUNT { (p)<-[:LINKS|LEADS_TO]-() } < $fewer
WITH p ORDER BY p.authority_priority DESC LIMIT $pushes
RETURN 'authority' AS kind, collect([id(p), p.authority_priority, COUNT { (p)<-[:LINKS|LEADS_TO]-() }]) AS found
UNION ALL
MATCH (p:Page) WHERE p.flow_priority >= $least AND COUNT { (p)-[:LINKS|LEADS_TO]->() } < $fewer
WITH p ORDER BY p.flow_priority DESC LIMIT $pushes
RETURN 'flow' AS kind, collect([id(p), p.flow_priority, COUNT { (p)-[:LINKS|LEADS_TO]->() }]) AS found
UNION ALL
MATCH (p:Page) WHERE p.live_pagerank_priority >= $least AND COUNT { (p)-[:LINKS|LEADS_TO]->() } < $fewer
WITH p ORDER BY p.live_pagerank_priority DESC LIMIT $pushes
RETURN 'live_pagerank' AS kind, collect([id(p), p.live_pagerank_priority, COUNT { (p)-[:LINKS|LEADS_TO]->() }]) AS found
