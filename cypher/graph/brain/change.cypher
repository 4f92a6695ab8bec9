// Change settings of the brain, and say so by its revision.
//
// param   settings  MAP     names and new values
// rows    none
// locks   the Brain
// mode    write
// retry   safe   absolute values; a revision more does no harm
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'})
SET b += $settings, b.revision = b.revision + 1
