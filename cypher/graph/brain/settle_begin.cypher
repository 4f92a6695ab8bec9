// Begin the settling pass, or extend it. One pass runs at a time, and a pass that died leaves only marks.
//
// param   token  STRING   of the pass
// param   now    FLOAT    seconds since the epoch
// param   until  FLOAT    the time after which it counts as dead
// column  mine   BOOLEAN  false if another pass is running
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
