// Give faults of pages that an older version stored as "well" or "none", and redirects that it stored as "missing", the
// names of hosts.health.PAGE_FAULTS.
//
// param   ids  LIST  internal ids; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   what has a name is left as it is
UNWIND $ids AS i
MATCH (p:Page) WHERE id(p) = i AND p.fault IN ['well', 'none', 'missing']
WITH p WHERE p.fault <> 'missing' OR p.status < 400
SET p.fault = CASE WHEN p.fault = 'missing' THEN 'nowhere' WHEN p.fault = 'none' THEN 'bad_report' WHEN p.status = 304 THEN 'not_modified'
                   WHEN p.status < 300 THEN 'not_understood' ELSE 'circles' END
