// The properties by which the sections of pages are found, and the factors with which pages wait.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, url, host, harvest] of those that were never fetched and are not wanted
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p.first_fetched IS NULL AND p.wanted_at IS NULL
RETURN collect([i, p.url, p.host, coalesce(p.harvest, 1.0)]) AS rows
