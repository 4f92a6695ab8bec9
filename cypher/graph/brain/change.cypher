// Change settings of the brain, and increase its revision.
//
// param   settings  MAP     names and new values
// rows    none
// locks   the Brain
// mode    write
// retry   safe   absolute values; a further increase of the revision does no harm
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'})
SET b += $settings, b.revision = b.revision + 1
