// The simhashes of fetched pages in a range of ids.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last one
// column  rows   LIST     [id, simhash] of each that has one
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE id(p) >= $first AND id(p) <= $last AND p.simhash IS NOT NULL AND p.state = 'known'
RETURN collect([id(p), p.simhash]) AS rows
