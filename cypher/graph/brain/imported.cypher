// Return whether an import has left properties of a brain that no process has made a brain yet.
//
// column  imported  BOOLEAN  true if so
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (i:Imported {key: 'brain'})
RETURN count(i) > 0 AS imported
