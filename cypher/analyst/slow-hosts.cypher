// Hosts that answer slowly
//
// `seconds` is the mean time of the last fetches of the host's pages, `slowest` the longest of them, `timed` of how many
// pages it is known: all whose crawler reports `seconds`. `pace` 0.5 means that the host, which has complained, is asked
// half as often as its delay would allow.
// `authority` is that of all the host's pages inside the scope.
//
// group     Errors
// param     seconds  only hosts that take at least so long; 0: also those that complained and were not timed
// param     limit  how many hosts
// cost      every page
:param seconds => 0.0;
:param limit => 50;

CALL () {
  MATCH (p:Page)
  WITH p.host AS host, avg(p.fetch_seconds) AS seconds, max(p.fetch_seconds) AS slowest,
       count(p.fetch_seconds) AS timed, sum(CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0.0
           ELSE p.authority_history + p.authority_cash END) AS authority
  WHERE timed > 0
  RETURN host, seconds, slowest, timed, authority
UNION ALL
  MATCH (h:Host) WHERE h.pace IS NOT NULL
  RETURN h.name AS host, null AS seconds, null AS slowest, 0 AS timed, null AS authority
}
WITH host, max(seconds) AS seconds, max(slowest) AS slowest, max(timed) AS timed, max(authority) AS authority
WHERE coalesce(seconds, 0.0) >= $seconds
OPTIONAL MATCH (h:Host {name: host})
WITH host, seconds, slowest, timed, authority, h ORDER BY coalesce(seconds, 0) DESC, coalesce(h.pace, 1.0), host LIMIT $limit
RETURN round(seconds, 3) AS seconds, round(slowest, 3) AS slowest, timed, coalesce(h.pace, 1.0) AS pace, h.delay AS delay,
       h.robots_delay AS robots_delay, coalesce(h.errors, 0) AS complaints, authority, host
ORDER BY coalesce(seconds, 0) DESC, pace, host
