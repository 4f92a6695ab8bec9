// What pages are worth to the schedule, where that is a property of theirs.
//
// param   ids    LIST    internal ids
// param   name   STRING  the property
// column  rows   LIST    [id, value] of each that has it
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p[$name] IS NOT NULL
RETURN collect([id(p), p[$name]]) AS rows
