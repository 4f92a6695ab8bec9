// Give pages their keys and addresses by the rules of today.
//
// param   rows    LIST  [id, key, url, name, url_surplus or null, path_repeats or null], in the order of ids; no other
//                       page has one of the keys
// column  leased  LIST  ids of those that a worker holds, or held until they lapsed: read under the lock
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (locked:Page) WHERE id(locked) = row[0]
SET locked:Page
WITH collect(row) AS held
UNWIND held AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.key = row[1], p.url = row[2], p.name = row[3], p.url_surplus = row[4], p.path_repeats = row[5]
RETURN collect(CASE WHEN p.lease IS NOT NULL THEN row[0] END) AS leased
