// Sums over the flow of all pages. Reads every page.
//
// param   seed    FLOAT  what a seed begins with; other pages begin with none
// column  got     FLOAT  what all pages have got
// column  passed  FLOAT  what each page began with, and what their links have got: weight times paid
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
WITH p, CASE WHEN p.is_seed THEN $seed ELSE 0.0 END AS first
RETURN coalesce(sum(coalesce(p.flow, first)), 0.0) AS got,
       coalesce(sum(first + p.out_weight * coalesce(p.flow_paid, 0.0)), 0.0) AS passed
