// Make access tokens that were carried over from another database.
//
// param   rows  LIST  their properties
// rows    none
// locks   the tokens
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MERGE (t:AccessToken {name: row.name})
SET t = row
