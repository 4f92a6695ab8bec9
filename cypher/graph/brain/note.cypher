// Record the progress of a pass over all pages.
//
// param   notes  MAP  the pass and the last key it has done, or null at its end; the caller has locked the brain
// rows    none
// locks   the Brain, held already
// mode    write
// retry   safe   absolute values
MATCH (b:Brain {key: 'brain'})
SET b += $notes
