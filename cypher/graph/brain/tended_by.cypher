// Return whether a worker tends this brain for all processes.
//
// param   hour     INTEGER  this hour, in hours since the epoch
// param   now      FLOAT    seconds since the epoch
// column  tended   BOOLEAN  whether one was seen lately
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (c:Hour) WHERE c.hour >= $hour - 1 AND c.worker IS NOT NULL AND c.tends_until >= $now
RETURN count(c) > 0 AS tended
