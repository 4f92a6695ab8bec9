// Record the pages' facts of visits for later questions: the crawl uses none of them.
//
// param   rows  LIST  [id, title, canonical, noindex, language, size, content_type, fetch_seconds], each or null;
//                     the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   safe   absolute values
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
SET p.title = row[1], p.canonical = row[2], p.noindex = row[3], p.language = row[4], p.size = row[5],
    p.content_type = row[6], p.fetch_seconds = row[7]
