// Keep the times at which visits put pages into another state, and the states that they left, the latest ten.
//
// param   rows  LIST  [id, state before, seconds since the epoch]; the caller has locked the pages
// rows    none
// locks   the pages, held already
// mode    write
// retry   once   in the transaction of the report, which is not recorded twice
UNWIND $rows AS row
MATCH (p:Page) WHERE id(p) = row[0]
WITH p, row, p {.state_times, .states_before} AS m
SET p.state_times = (coalesce(m.state_times, []) + row[2])[-10..],
    p.states_before = (coalesce(m.states_before, []) + row[1])[-10..]
