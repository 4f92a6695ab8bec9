// How far this database has come: the id of its last committed transaction.
//
// param   database  STRING   its name
// column  id        INTEGER  the transaction's id
// rows    many
// locks   none
// mode    read
// retry   safe
SHOW DATABASES YIELD name, lastCommittedTxn
WHERE name = $database
RETURN lastCommittedTxn AS id
