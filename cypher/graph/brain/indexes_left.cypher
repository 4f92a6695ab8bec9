// The indexes that are not filled yet.
//
// column  rows   LIST  [name, state] of each: POPULATING or FAILED
// rows    one
// locks   none
// mode    read
// retry   safe
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN collect([name, state]) AS rows
