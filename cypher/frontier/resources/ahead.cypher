// Among the next resources in the order of their keys, those that may have been written by a clock that was ahead.
//
// param   after  STRING   the last key of the batch before
// param   limit  INTEGER  look at no more resources than this
// param   now    FLOAT    seconds since the epoch
// column  keys   LIST     their keys
// column  last   STRING   the last key that was looked at, or null at the end
// column  seen   INTEGER  how many were looked at
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (r:Resource) WHERE r.key > $after
WITH r ORDER BY r.key LIMIT $limit
WITH collect(CASE WHEN r.fetched > $now OR r.failed > $now OR r.failing_since > $now OR r.due_at > $now OR r.dead_at > $now
                    OR r.discovered > $now OR r.lease_until > $now THEN r.key END) AS keys,
     max(r.key) AS last, count(r) AS seen
RETURN keys, last, seen
