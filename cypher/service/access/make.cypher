// Keep the digest of a new token under a name that no good token has.
//
// param   name     STRING   its name
// param   role     STRING   crawler, analyst or operator
// param   digest   STRING   SHA-256 of the token, in hex digits
// param   expires  FLOAT    when it ends; null: never
// param   now      FLOAT    seconds since the epoch
// column  mine     BOOLEAN  false when another token has this name
// rows    one
// locks   the token
// mode    write
// retry   safe   the same digest
MERGE (t:AccessToken {name: $name})
ON CREATE SET t.digest = $digest, t.role = $role, t.made = $now, t.expires = $expires
WITH t, t.digest IS NULL OR t.expires <= $now AS over
FOREACH (_ IN CASE WHEN over THEN [1] ELSE [] END |
  SET t.digest = $digest, t.role = $role, t.made = $now, t.expires = $expires, t.revoked = null)
RETURN t.digest = $digest AS mine
