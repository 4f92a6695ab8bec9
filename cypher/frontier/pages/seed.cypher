// Make known pages seeds: no click away from one.
//
// param   ids   LIST  internal ids, sorted; the caller has locked them
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
SET p.is_seed = true, p.seed_led = null
