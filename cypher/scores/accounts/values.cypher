// Return the values of pages for the schedule, if they are a property, or the provisional values until they have one.
//
// param   ids    LIST    internal ids
// param   name   STRING  the property
// column  rows   LIST    [id, value or null, provisional value or null] of each that has either
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p[$name] AS value, p.provisional AS provisional
WHERE value IS NOT NULL OR provisional IS NOT NULL
RETURN collect([page, value, provisional]) AS rows
