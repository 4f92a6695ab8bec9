// Indexes that do not serve.
//
// column  name   STRING  the index
// column  state  STRING  what it is instead of ONLINE
// rows    many
// locks   none
// mode    read
// retry   safe
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN name, state
