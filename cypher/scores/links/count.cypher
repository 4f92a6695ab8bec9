// Count the links of a page in both directions by its degrees, without reading them.
//
// param   key    STRING   its key
// column  links  INTEGER  their number; null if there is no such page
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (p:Page {key: $key})
RETURN CASE WHEN p IS NULL THEN null ELSE COUNT { (p)-[:LINKS]->() } + COUNT { (p)<-[:LINKS]-() } END AS links
