// Hosts that wait for their turn at an address, the next in line first.
//
// param   names  LIST     address texts
// param   now    FLOAT    seconds since the epoch
// param   limit  INTEGER  at most this many of each
// column  hosts  LIST     host names
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS address
CALL (address) {
  MATCH (h:Host) USING INDEX h:Host(address, turn_at) WHERE h.address = address AND h.turn_at > $now
  WITH h ORDER BY h.address, h.turn_at LIMIT $limit
  RETURN h.name AS name
}
RETURN collect(name) AS hosts
