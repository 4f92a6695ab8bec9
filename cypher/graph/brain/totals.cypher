// Return the counts of all workers since the brain was made.
//
// column  pages     INTEGER  visits reported
// column  links     INTEGER  links reported
// column  claims    INTEGER  pages claimed
// column  pushes    INTEGER  sides pushed
// column  payments  INTEGER  payments made by pushes
// column  retries   INTEGER  transactions run again
// column  robots_claims   INTEGER  claims of a robots.txt
// column  sitemap_claims  INTEGER  claims of sitemaps
// column  link_claims     INTEGER  claims of the status of a URL outside the scope
// column  found     INTEGER  pages that reports brought into the frontier
// column  left      INTEGER  pages that reports took out of it
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (c:Hour) WHERE c.hour >= 0 AND c.worker IS NOT NULL
RETURN coalesce(sum(c.pages), 0) AS pages, coalesce(sum(c.links), 0) AS links, coalesce(sum(c.claims), 0) AS claims,
       coalesce(sum(c.pushes), 0) AS pushes, coalesce(sum(c.payments), 0) AS payments,
       coalesce(sum(c.retries), 0) AS retries, coalesce(sum(c.robots_claims), 0) AS robots_claims,
       coalesce(sum(c.sitemap_claims), 0) AS sitemap_claims, coalesce(sum(c.link_claims), 0) AS link_claims,
       coalesce(sum(c.found), 0) AS found, coalesce(sum(c.left), 0) AS left
