// Return what is known of the contents of pages, of those that were fetched or redirect.
//
// param   keys  LIST  of pages
// column  rows  LIST  [key, url, does it redirect, body_hash or null, text_hash or null, simhash or null, share of its
//                     text that was new or null, canonical or null, the key of where it leads or null] of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND $keys AS key
MATCH (p:Page {key: key}) WHERE p.state = 'alias' OR (p.first_fetched IS NOT NULL AND p.state = 'known')
RETURN collect([key, p.url, p.state = 'alias', p.body_hash, p.text_hash, p.simhash, p.brought, p.canonical,
                head([(p)-[:REDIRECTS_TO]->(q) | q.key])]) AS rows
