// The pages of some keys that are in the graph.
//
// param   keys   LIST   page keys, sorted
// column  found  LIST   [key, id, out_weight, is it an alias or does its canonical name another page that links may count
//                       for, is it parked, why its address may get better ('surplus', or why it is outside) or null] of
//                       each that is there
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key})
WITH key, id(p) AS page, p {.out_weight, .state, .url_surplus, .outside_because, .canonical_key} AS m
RETURN collect([key, page, m.out_weight, m.state = 'alias' OR m.canonical_key IS NOT NULL, m.state = 'parked',
                CASE WHEN m.url_surplus IS NULL THEN m.outside_because ELSE 'surplus' END]) AS found
