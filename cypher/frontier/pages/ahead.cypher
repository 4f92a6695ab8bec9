// Among the next pages in the order of their keys, those that may have been written by a clock that was ahead.
//
// param   after  STRING   the last key of the batch before, or ''
// param   limit  INTEGER  look at no more pages than this
// param   now    FLOAT    seconds since the epoch
// column  ids    LIST     internal ids
// column  last   STRING   the last key that was looked at, or null at the end
// column  seen   INTEGER  how many were looked at
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.key > $after
WITH p ORDER BY p.key LIMIT $limit
WITH collect(CASE WHEN p.fetched > $now OR p.failed > $now OR p.look_again > $now OR p.lease_until > $now
                    OR p.not_before > $now OR p.discovered > $now OR p.in_sitemap > $now OR p.hinted > $now
                    OR p.hint_noted > $now OR p.hint_after > $now OR p.try_at > $now OR p.wanted_at > $now
                    OR any(at IN p.change_times WHERE at > $now) OR any(at IN p.state_times WHERE at > $now)
                    OR any(at IN p.failure_times WHERE at > $now)
                    OR (p.lane > 0 AND p.waiting_since > $now) THEN id(p) END) AS ids,
     max(p.key) AS last, count(p) AS seen
RETURN ids, last, seen
