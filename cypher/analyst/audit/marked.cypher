// Those of some pages whose links are still to be looked at.
//
// param   ids  LIST  internal ids
// column  ids  LIST  of those that are
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p.look_again IS NOT NULL
RETURN collect(i) AS ids
