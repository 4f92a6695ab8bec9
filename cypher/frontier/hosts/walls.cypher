// Where the last visits of pages of hosts were led for now: of each host the place that most of them were led to. A page
// by way of which another one was led there is a step, and does not count.
//
// param   names  LIST     host names
// param   limit  INTEGER  read no more pages of each host than this
// param   least  INTEGER  leave out places that fewer pages were led to
// column  rows   LIST     [name, URL of the place, pages that were led there] of each host that has one
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
CALL (name) {
  MATCH (p:Page) WHERE p.leads_to STARTS WITH name + ' '
  WITH p LIMIT $limit
  WITH p.leads_to AS place, collect(p) AS led, min(p.led_to[-1]) AS url
  WHERE size(led) >= $least
  WITH place, url, led, COLLECT { UNWIND led AS q UNWIND q.led_to[..-1] AS step RETURN DISTINCT step } AS steps
  WITH place, url, size([p IN led WHERE NOT p.url IN steps]) AS pages
  WHERE pages >= $least
  RETURN url, pages ORDER BY pages DESC, place LIMIT 1
}
RETURN collect([name, url, pages]) AS rows
