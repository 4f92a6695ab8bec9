// End the transactions of one question that was cancelled.
//
// param   asked  STRING   the token that stands in their metadata
// column  ended  INTEGER  how many were under way
// rows    one
// locks   none
// mode    read
// retry   safe
SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.asked = $asked
TERMINATE TRANSACTIONS id YIELD transactionId
RETURN count(*) AS ended
