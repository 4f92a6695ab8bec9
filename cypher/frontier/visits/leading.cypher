// Pages whose last visits were led to the same place as some visits, by the index of these places: no other page is read.
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
