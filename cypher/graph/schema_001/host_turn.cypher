// Hosts that wait for their turn at an address, in order.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX host_turn IF NOT EXISTS FOR (h:Host) ON (h.address, h.turn_at)
