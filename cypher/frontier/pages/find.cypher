// Return the pages with some keys that are in the graph, with the depths of visited pages and the outcomes of their
// last visits.
//
// param   keys     LIST  page keys, sorted
// param   visited  LIST  the keys among them of pages that were visited
// column  found  LIST   [key, id, out_weight, is it an alias or does its canonical name another page that links may count
//                       for, or does it name aliases and has no link, is it parked, why its address may get better
//                       ('surplus', or why it is outside) or null] of each that is there
// column  last   LIST   [id, depth, the token of the last visit or null, what came of that or null] of the visited ones
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  UNWIND $keys AS key
  MATCH (p:Page {key: key})
  WITH key, id(p) AS page, p {.out_weight, .state, .url_surplus, .outside_because, .canonical_key, .spells} AS m
  RETURN collect([key, page, m.out_weight,
                  m.state = 'alias' OR m.canonical_key IS NOT NULL OR (coalesce(m.spells, false) AND m.out_weight = 0.0),
                  m.state = 'parked',
                  CASE WHEN m.url_surplus IS NULL THEN m.outside_because ELSE 'surplus' END]) AS found
}
CALL () {
  UNWIND $visited AS key
  MATCH (p:Page {key: key})
  WITH id(p) AS page, p {.depth, .last_lease, .last_outcome} AS m
  RETURN collect([page, m.depth, m.last_lease, m.last_outcome]) AS last
}
RETURN found, last
