// Record the progress of the pass that adapts pages to new settings, unless these have changed again.
//
// param   before    STRING   the key after which the pages of this step begin
// param   after     STRING   the last key it has done, or null at the end
// param   revision  INTEGER  of the settings that the pass used
// rows    none
// locks   the Brain
// mode    write
// retry   safe   another process that did the same pages has recorded it
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'}) WHERE b.remarking = $before AND b.revision = $revision
SET b.remarking = $after
