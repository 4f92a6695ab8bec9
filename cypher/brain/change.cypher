// Change shared settings of the brain.
//
// param   settings  MAP     names and new values
// rows    none
// locks   the Brain
// mode    write
// retry   safe   absolute values
MATCH (b:Brain {key: 'brain'})
SET b += $settings
