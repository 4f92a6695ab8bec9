// Delete a page that has no links left.
//
// param   id   INTEGER  its internal id; the caller has locked it and unlinked it
// rows    none
// locks   the page, held already
// mode    write
// retry   safe   what is gone is gone
MATCH (p:Page) WHERE id(p) = $id
OPTIONAL MATCH (p)-[r:REDIRECTS_TO|CANONICAL|SPELLS|SEEDS]-()
DELETE r
WITH DISTINCT p
DELETE p
