// Return those of some pages that were fetched and are no aliases, each with its canonical.
//
// param   keys  LIST  of pages
// column  rows  LIST  [key, canonical or null] of those that were
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key}) WHERE p.first_fetched IS NOT NULL AND p.state = 'known'
RETURN collect([key, p.canonical]) AS rows
