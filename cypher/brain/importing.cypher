// Note on the brain that an import is under way in batches, or that it is over.
//
// param   since    FLOAT    seconds since the epoch, or null at its end
// rows    none
// locks   the Brain
// mode    write
// retry   safe   absolute values
MATCH (b:Brain {key: 'brain'})
SET b.importing = $since
