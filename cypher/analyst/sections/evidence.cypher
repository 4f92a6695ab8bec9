// What was learned of a host.
//
// param   host      STRING  its name
// column  known     STRING  a sample of its shingles
// column  evidence  STRING  the visits that are remembered
// column  sections  STRING  its sections
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (s:Site {host: $host}) WHERE s.known IS NOT NULL AND s.evidence IS NOT NULL AND s.sections IS NOT NULL
RETURN s.known AS known, s.evidence AS evidence, s.sections AS sections
