// What hosts keep of their sitemaps.
//
// param   names  LIST  host names, sorted
// column  rows   LIST  [name, of which robots.txt its sitemaps are known or null, the keys that it names or null, how many
//                      sitemaps of the host there are] of each that is there
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $names AS name
MATCH (h:Host {name: name})
RETURN collect([h.name, h.sitemaps_mark, h.sitemaps_named, coalesce(h.sitemaps, 0)]) AS rows
