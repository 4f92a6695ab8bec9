// Return whether a transaction waits for locks.
//
// column  awaited  BOOLEAN  a transaction of graphbrain waits for another one; those of the settling pass do not count
// rows    one
// locks   none
// mode    read
// retry   safe
SHOW TRANSACTIONS YIELD metaData, status
WHERE metaData.app = 'graphbrain' AND metaData.work <> 'settle' AND status STARTS WITH 'Blocked'
RETURN count(*) > 0 AS awaited
