// Write one score of some pages. A page that is younger than the export reuses an internal id, and is left out.
//
// param   name    STRING   the property
// param   ids     LIST     internal ids, ascending
// param   values  LIST     of each
// param   before  FLOAT    seconds since the epoch: when the export began
// column  written INTEGER  their number
// rows    one
// locks   the pages, in the order of ids
// mode    write
// retry   safe   absolute values
UNWIND range(0, size($ids) - 1) AS n
MATCH (p:Page) WHERE id(p) = $ids[n] AND p.discovered <= $before
SET p[$name] = $values[n]
RETURN count(*) AS written
