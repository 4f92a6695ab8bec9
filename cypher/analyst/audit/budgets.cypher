// Return hosts with a budget: the number of fetched pages that they count, the number of pages that were fetched or
// charged, and whether pages are set aside.
//
// param   names  LIST     only these hosts, or null for all
// param   budget INTEGER  of a host that has none of its own; 0 is no limit
// column  rows   LIST     [name, budget_used, pages, budget, set_aside, queued, whether a page waits for the budget]
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (h:Host) WHERE (h.budget_used IS NOT NULL OR h.set_aside IS NOT NULL) AND ($names IS NULL OR h.name IN $names)
CALL (h) {
  MATCH (p:Page {host: h.name}) WHERE p.first_fetched IS NOT NULL OR (p.lease IS NOT NULL AND p.charged)
  RETURN count(p) AS pages
}
CALL (h) {
  OPTIONAL MATCH (p:Page) WHERE p.queue = h.name + ' (budget)' AND p.lane IS NOT NULL AND p.waiting_since IS NOT NULL
  WITH p LIMIT 1 RETURN count(p) > 0 AS waits
}
RETURN collect([h.name, h.budget_used, pages, coalesce(h.budget, $budget), coalesce(h.set_aside, false),
                coalesce(h.queued, h.resting, false), waits]) AS rows
