// Lock addresses, create those that are missing, and read their state.
//
// param   names  LIST   address texts, sorted
// column  rows   LIST   [name, next_at or 0, in_flight, turns_until or 0]
// rows    one
// locks   the addresses, in order of names; never a page or a host after an address
// mode    write
// retry   safe   MERGE on a unique name
UNWIND $names AS name
MERGE (locked:Address {name: name})
SET locked:Address
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (a:Address) WHERE id(a) = i
RETURN collect([a.name, coalesce(a.next_at, 0.0), coalesce(a.in_flight, 0), coalesce(a.turns_until, 0.0)]) AS rows
