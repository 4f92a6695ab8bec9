// The notes on some pages.
//
// param   keys   LIST   page keys
// column  notes  LIST   [key, text] of each page that has one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (n:Note {key: key})
RETURN collect([key, n.text]) AS notes
