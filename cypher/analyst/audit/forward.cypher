// Sums over an account that pages pass on along their links. Reads every page.
//
// param   name        STRING   the property that holds it
// param   paid        STRING   the property that holds what each unit of weight of a page's links has got
// param   seed        FLOAT    what a seed begins with
// param   other       FLOAT    what any other page begins with
// param   share       FLOAT    what a page passes on of what it has
// param   by_reading  BOOLEAN  only pages that were read pass it on, else all pages with links
// column  got         FLOAT    what all pages have got
// column  passed      FLOAT    what each page began with, and what their links have got: weight times paid
// column  waits       FLOAT    what pages that pass it on have not passed on yet, or too much, in absolute value
// column  frontier    FLOAT    what pages that were not fetched yet have got
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
WITH p, CASE WHEN p.is_seed THEN $seed ELSE $other END AS first
WITH p, first, coalesce(p[$name], first) AS has, p[$paid] AS paid
RETURN coalesce(sum(has), 0.0) AS got,
       coalesce(sum(first + p.out_weight * coalesce(paid, 0.0)), 0.0) AS passed,
       coalesce(sum(CASE WHEN (paid IS NOT NULL OR NOT $by_reading) AND p.out_weight > 0.0
                         THEN abs($share * has - p.out_weight * coalesce(paid, 0.0)) ELSE 0.0 END), 0.0) AS waits,
       coalesce(sum(CASE WHEN p.state = 'frontier' THEN has ELSE 0.0 END), 0.0) AS frontier
