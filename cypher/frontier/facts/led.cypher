// Note where visits were led by temporary redirects, or by a refresh in 0 seconds.
//
// param   rows  LIST  [id, list of URLs or null, host and place in short or null]; the caller has locked the
//                    pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.led_to = row[1], p.leads_to = row[2]
