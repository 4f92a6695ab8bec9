// Under which keys pages are found that were leased under others.
//
// param   keys  LIST  the keys they had
// column  rows  LIST  [the key it had, the key it has, the version of the URL rules that gave it] of each
//                     that is noted; before version 3 none was written: it was 2
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (m:Moved {key: key})
RETURN collect([key, m.to, coalesce(m.rules, 2)]) AS rows
