// The fewest clicks from a seed to a page, of at most 1000.
//
// A click follows a link, or the address of an alias that a page names. A redirect is no click, so that an alias is as near as the
// aliases that lead to it.
//
// param   key     STRING   of the page
// column  clicks  INTEGER  or null: no links lead there from a seed
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (b:Page {key: $key})
CALL (b) {
  MATCH (near:Page)-[:REDIRECTS_TO]->{0,20}(b)
  RETURN DISTINCT near
}
CALL (near) {
  MATCH way = ANY SHORTEST (s:Page)-[:LINKS|SPELLS]->{0,1000}(near) WHERE s.is_seed
  RETURN length(way) AS steps LIMIT 1
}
RETURN min(steps) AS clicks
