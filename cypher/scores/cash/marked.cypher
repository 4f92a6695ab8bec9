// Count the sides that wait for a push, up to a limit.
//
// param   least  INTEGER  below every priority
// param   limit  INTEGER  count no further
// column  sides  INTEGER  of both kinds
// rows    one
// locks   none
// mode    read
// retry   safe
CALL () {
  MATCH (p:Page) WHERE p.hub_priority > $least
  WITH p LIMIT $limit
  RETURN count(*) AS hubs
}
CALL () {
  MATCH (p:Page) WHERE p.authority_priority > $least
  WITH p LIMIT $limit
  RETURN count(*) AS authorities
}
RETURN hubs + authorities AS sides
