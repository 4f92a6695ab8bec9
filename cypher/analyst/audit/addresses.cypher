// What addresses count as in flight, and how many leased pages are counted there.
//
// param   names  LIST   only these addresses, or null for all
// column  rows   LIST   [name, in_flight, leased pages]
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.lease_until >= 0
  WITH p WHERE p.counted_at IS NOT NULL
  WITH p.counted_at AS name, count(*) AS pages
  RETURN collect([name, 0, pages]) AS leased
}
CALL () {
  MATCH (a:Address) WHERE a.in_flight > 0
  RETURN collect([a.name, a.in_flight, 0]) AS counted
}
UNWIND leased + counted AS row
WITH row[0] AS name, sum(row[1]) AS in_flight, sum(row[2]) AS pages
WHERE $names IS NULL OR name IN $names
RETURN collect([name, in_flight, pages]) AS rows
