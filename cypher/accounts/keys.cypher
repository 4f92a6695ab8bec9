// The keys of locked pages, to see that an id still means the page it meant.
//
// param   ids   LIST  internal ids
// param   keys  LIST  the key each is thought to have
// column  same  INTEGER  how many have it
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range(0, size($ids) - 1) AS n
MATCH (p:Page) WHERE id(p) = $ids[n] AND p.key = $keys[n]
RETURN count(*) AS same
