// Create links. The caller has made sure that none of them exists.
//
// param   rows   LIST     [id, [ids it now links to]]; the caller has locked both ends
// param   now    FLOAT    seconds since the epoch: when they were first seen
// column  made   INTEGER  their number
// rows    one
// locks   the ends, held already
// mode    write
// retry   once   the caller looks at the links under the lock, in the same transaction
UNWIND $rows AS row
MATCH (p) WHERE id(p) = row[0]
UNWIND row[1] AS target
MATCH (q) WHERE id(q) = target
CREATE (p)-[:LINKS {since: $now}]->(q)
RETURN count(*) AS made
