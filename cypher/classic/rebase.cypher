// Put a part of the offsets into the stored cash of pages.
//
// param   rows  LIST  [id, hub cash, authority cash]; the caller has locked the pages and the virtual page
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.hub_cash = row[1], p.authority_cash = row[2]
