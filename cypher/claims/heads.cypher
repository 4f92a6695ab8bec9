// The best waiting pages of the shared queue, in the order of the index: best lane first, oldest first in a lane.
//
// param   limit  INTEGER  at most this many
// column  rows   LIST     [id, lane]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page) WHERE p.queue = '*' AND p.lane >= 0 AND p.waiting_since IS NOT NULL
WITH p ORDER BY p.queue, p.lane, p.waiting_since LIMIT $limit
RETURN collect([id(p), p.lane]) AS rows
