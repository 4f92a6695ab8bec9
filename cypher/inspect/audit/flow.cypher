// Sums over the flow of all pages. Reads every page.
//
// column  got     FLOAT  what all pages have got
// column  passed  FLOAT  1 for each page, and what their links have got: weight times paid
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
RETURN coalesce(sum(coalesce(p.flow, 1.0)), 0.0) AS got,
       coalesce(sum(1.0 + p.out_weight * coalesce(p.flow_paid, 0.0)), 0.0) AS passed
