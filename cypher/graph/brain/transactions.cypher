// Return the transactions of graphbrain that run now, including this one.
//
// column  ids  LIST  their names
// rows    one
// locks   none
// mode    read
// retry   safe
SHOW TRANSACTIONS YIELD transactionId, metaData
WHERE metaData.app = 'graphbrain'
RETURN collect(transactionId) AS ids
