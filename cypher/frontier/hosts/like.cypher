// Return hosts whose names contain one of several texts. Reads every host.
//
// param   texts  LIST  as they are spelt in the graph
// column  names  LIST  of the hosts
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE any(text IN $texts WHERE h.name CONTAINS text)
RETURN collect(h.name) AS names
