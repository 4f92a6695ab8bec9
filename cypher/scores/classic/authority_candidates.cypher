// Return the pages of the highest authority cash.
//
// param   limit  INTEGER  at most this many
// column  rows   LIST     [page, stored, links], best first; stored: cash relative to the offset; links: their number
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.authority_cash > -1e300
WITH p ORDER BY p.authority_cash DESC LIMIT $limit
RETURN collect([id(p), p.authority_cash, COUNT { (p)<-[:LINKS|LEADS_TO]-() }]) AS rows
