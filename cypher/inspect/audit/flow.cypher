// Sums over the flow of all pages. Reads every page.
//
// param   seed      FLOAT  what a seed begins with; other pages begin with none
// param   share     FLOAT  what a page passes on of its flow
// column  got       FLOAT  what all pages have got
// column  passed    FLOAT  what each page began with, and what their links have got: weight times paid
// column  waits     FLOAT  what pages that pass flow on have not passed on yet, or too much, in absolute value
// column  frontier  FLOAT  what pages that were not fetched yet have got
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
WITH p, CASE WHEN p.is_seed THEN $seed ELSE 0.0 END AS first
WITH p, first, coalesce(p.flow, first) AS flow
RETURN coalesce(sum(flow), 0.0) AS got,
       coalesce(sum(first + p.out_weight * coalesce(p.flow_paid, 0.0)), 0.0) AS passed,
       coalesce(sum(CASE WHEN p.flow_paid IS NOT NULL AND p.out_weight > 0.0
                         THEN abs($share * flow - p.out_weight * p.flow_paid) ELSE 0.0 END), 0.0) AS waits,
       coalesce(sum(CASE WHEN p.state = 'frontier' THEN flow ELSE 0.0 END), 0.0) AS frontier
