// End the transactions of one question that was cancelled.
//
// param   asked  STRING   the token in their metadata
// column  ended  INTEGER  the number of those that were running
// rows    one
// locks   none
// mode    read
// reads   any
// retry   safe
SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.asked = $asked
TERMINATE TRANSACTIONS id YIELD transactionId
RETURN count(*) AS ended
