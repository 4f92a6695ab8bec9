// Take the settling pass, or hold it longer: only one at a time, and only marks it leaves behind tell of one that died.
//
// param   token  STRING   of the pass
// param   now    FLOAT    seconds since the epoch
// param   until  FLOAT    when it counts as dead
// column  mine   BOOLEAN  false when another one is under way
// rows    one
// locks   the brain
// mode    write
// retry   safe   the same token
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'})
WITH b, b.settling IS NULL OR b.settling = $token OR b.settling_until < $now AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END |
  SET b.settle_passes = coalesce(b.settle_passes, 0) + CASE WHEN b.settling = $token THEN 0 ELSE 1 END,
      b.settling = $token, b.settling_until = $until)
RETURN mine
