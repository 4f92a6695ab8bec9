// Which of these pages were fetched, and are no aliases; and what each of them names as its canonical.
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
