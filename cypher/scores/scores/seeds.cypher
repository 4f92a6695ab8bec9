// Return the seeds of the crawl.
//
// column  ids   LIST  internal ids of the seeds
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.is_seed
RETURN collect(id(p)) AS ids
