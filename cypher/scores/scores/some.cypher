// Return whether any page carries a batch score.
//
// param   name  STRING   the property that keeps it
// column  some  BOOLEAN  stops at the first page that does
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (p:Page) WHERE p[$name] IS NOT NULL
WITH p LIMIT 1
RETURN p IS NOT NULL AS some
