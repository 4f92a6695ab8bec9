// The pages of some keys that are in the graph.
//
// param   keys   LIST   page keys, sorted
// column  found  LIST   [key, id, out_weight, is it an alias] of each that is there
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key})
RETURN collect([key, id(p), p.out_weight, p.state = 'alias']) AS found
