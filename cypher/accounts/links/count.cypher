// How many links a page has, both ways, by its degrees: none of them is read.
//
// param   key    STRING   its key
// column  links  INTEGER  how many; null when there is no such page
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (p:Page {key: $key})
RETURN CASE WHEN p IS NULL THEN null ELSE COUNT { (p)-[:LINKS]->() } + COUNT { (p)<-[:LINKS]-() } END AS links
