// Note that those of some pages have to be learned from that were visited before anything was: pages that were fetched, by
// the hash of their text or body, aliases, and pages that are missing.
//
// param   ids    LIST     internal ids, sorted
// column  noted  INTEGER  how many were noted
// rows    one
// locks   the pages, in order of ids
// mode    write
// retry   safe   those that were noted are passed over
UNWIND $ids AS i
MATCH (locked:Page) WHERE id(locked) = i
SET locked:Page
WITH collect(id(locked)) AS held
UNWIND held AS i
MATCH (p:Page) WHERE id(p) = i AND p.brought IS NULL AND p.unlearned IS NULL AND p.shingles IS NULL
WITH p, p {.state, .first_fetched, .fetched, .failed, .discovered, .text_hash, .body_hash, .canonical} AS m
WITH p, m, coalesce(m.text_hash, m.body_hash) AS hash
WHERE m.state IN ['alias', 'gone'] OR (m.first_fetched IS NOT NULL AND (hash IS NOT NULL OR m.canonical IS NOT NULL))
SET p.unlearned = coalesce(m.first_fetched, m.fetched, m.failed, m.discovered),
    p.shingles = CASE WHEN m.state IN ['alias', 'gone'] THEN null ELSE '=' + hash END
RETURN count(*) AS noted
