// Wait until all indexes are online.
//
// rows    none
// locks   none
// mode    read
// retry   safe
CALL db.awaitIndexes(300)
