// Return those of some pages that were fetched and are no aliases, or wait for their first visit.
//
// param   keys  LIST  of pages
// column  rows  LIST  the keys of those that do
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key}) WHERE p.state IN ['known', 'frontier']
RETURN collect(p.key) AS rows
