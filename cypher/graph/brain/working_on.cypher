// The number of transactions that do one work now, including this one.
//
// param   work   STRING   as their metadata name it
// column  count  INTEGER   of the transactions
// rows    one
// locks   none
// mode    read
// retry   safe
SHOW TRANSACTIONS YIELD metaData
WHERE metaData.work = $work
RETURN count(*) AS count
