// Return the tokens of the service: name, role, times and digest of each.
//
// column  name     STRING   its name
// column  role     STRING   crawler, analyst or operator
// column  digest   STRING   SHA-256 of the token, in hex digits; null once it is revoked
// column  made     FLOAT    when, seconds since the epoch
// column  expires  FLOAT    when it ends; null: never
// column  revoked  FLOAT    when it was revoked; null: it was not
// rows    many
// locks   none
// mode    read
// retry   safe
MATCH (t:AccessToken)
RETURN t.name AS name, t.role AS role, t.digest AS digest, t.made AS made, t.expires AS expires, t.revoked AS revoked
ORDER BY name
