// Record the progress of the pass that learns sections from pages that were visited before it. Nothing is written if
// the pass has begun anew.
//
// param   before    STRING   the key after which the pages of this step begin
// param   after     STRING   the last key it has done, or null at the end
// param   revision  INTEGER  of the settings by which the step ran
// rows    none
// locks   the Brain
// mode    write
// retry   safe   another process that has done the same pages has noted it
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'}) WHERE b.relearning = $before AND b.revision = $revision
SET b.relearning = $after
