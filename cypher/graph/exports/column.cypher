// Return one numeric property of some pages.
//
// param   ids   LIST    internal ids
// param   name  STRING  the property
// column  rows  LIST    [id, value] of those that have it
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p[$name] AS value WHERE value IS NOT NULL
RETURN collect([page, value]) AS rows
