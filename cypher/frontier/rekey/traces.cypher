// Under which keys pages are found that were leased under others.
//
// param   keys  LIST  the keys they had
// column  rows  LIST  [the key it had, the key it has] of each that is noted
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (m:Moved {key: key})
RETURN collect([key, m.to]) AS rows
