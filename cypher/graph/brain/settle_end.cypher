// End the settling pass, after all marks are right again.
//
// param   token  STRING  of the pass
// param   now    FLOAT   seconds since the epoch: settled sides have no time of their own
// rows    none
// locks   the brain
// mode    write
// retry   safe   another pass's token stays
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'}) WHERE b.settling = $token
SET b.settling = null, b.settling_until = null, b.settled = $now
