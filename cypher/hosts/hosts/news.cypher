// Hosts whose pages have still to be judged by their robots.txt as it is now.
//
// param   limit  INTEGER  at most this many
// column  names  LIST     host names
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE h.robots_news = true
WITH h LIMIT $limit
RETURN collect(h.name) AS names
