// Has an import left the brain's properties for whoever comes first to make a brain of them?
//
// column  imported  BOOLEAN  whether
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (i:Imported {key: 'brain'})
RETURN count(i) > 0 AS imported
