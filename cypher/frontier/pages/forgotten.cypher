// Which of these keys were forgotten for ever?
//
// param   keys  LIST  page keys
// column  gone  LIST  those that were
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (f:Forgotten {key: key})
RETURN collect(key) AS gone
