// Revoke a token: its digest is deleted, so nothing can be compared with it again.
//
// param   name   STRING   its name
// param   now    FLOAT    seconds since the epoch
// column  found  INTEGER  0 when no token has this name
// column  fresh  BOOLEAN  was it good, or had only expired, until now?
// rows    one
// locks   the token
// mode    write
// retry   safe   it stays revoked, since when it was first
MATCH (locked:AccessToken {name: $name})
SET locked:AccessToken
WITH count(*) AS held
OPTIONAL MATCH (t:AccessToken {name: $name})
FOREACH (_ IN CASE WHEN t IS NULL THEN [] ELSE [1] END |
  SET t.digest = null, t.revoked = coalesce(t.revoked, $now))
RETURN count(t) AS found, coalesce(max(t.revoked) = $now, false) AS fresh
