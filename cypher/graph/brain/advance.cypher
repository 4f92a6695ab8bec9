// Store the last key that a conversion of all accounts has done.
//
// param   after  STRING  the last key that is done
// rows    none
// locks   the Brain
// mode    write
// retry   safe   absolute value
MATCH (b:Brain {key: 'brain'})
SET b.converted_until = $after
