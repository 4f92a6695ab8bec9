// The status by which some pages lead elsewhere for now.
//
// param   ids   LIST  internal ids; the caller has locked the pages
// column  rows  LIST  [id, 302, 303 or 307] of those that do
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p.led_by IS NOT NULL
RETURN collect([i, p.led_by]) AS rows
