// The page that the links of a page count for.
//
// param   key  STRING  of the page
// column  url  STRING  the URL of the page that they count for; null: its own
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (p:Page {key: $key})-[:CANONICAL]->(q:Page)
RETURN head(collect(q.url)) AS url
