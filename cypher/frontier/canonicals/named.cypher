// Return the canonicals of pages that name one, or named one before.
//
// param   ids   LIST  internal ids
// column  rows  LIST  [id, key, host, canonical or null, the key of the page that it is taken to name, or null]
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i
WITH id(p) AS page, p {.key, .host, .canonical, .canonical_key} AS m
WHERE m.canonical IS NOT NULL OR m.canonical_key IS NOT NULL
RETURN collect([page, m.key, m.host, m.canonical, m.canonical_key]) AS rows
