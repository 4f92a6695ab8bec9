// The sections of hosts, as they act.
//
// param   hosts  LIST  names
// column  rows   LIST  [host, sections, how often it was learned from] of those that have any
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $hosts AS host
MATCH (s:Site {host: host}) WHERE s.sections IS NOT NULL
RETURN collect([host, s.sections, coalesce(s.learned, 0)]) AS rows
