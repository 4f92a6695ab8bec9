// Return pages whose last visits were led to the same places as some visits. The index of these places is read, and no
// other page.
//
// param   places  LIST     where to, as in Page.leads_to
// param   limit   INTEGER  read no more pages of each than this
// column  rows    LIST     [place, [[key of a page, its URL, URLs of the steps before the place]]] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $places AS place
CALL (place) {
  MATCH (p:Page {leads_to: place}) WITH p LIMIT $limit
  RETURN collect([p.key, p.url, p.led_to[..-1]]) AS pages
}
RETURN collect([place, pages]) AS rows
