// Hosts that answer slowly
//
// `seconds` is the mean time of the last fetches of the host's pages, `slowest` the longest of them, `timed` of how many
// pages it is known: all whose crawler reports `seconds`. `pace` 0.5 means that the host, which has complained, is asked
// half as often as its delay would allow.
//
// group     Errors
// param     limit  how many hosts
// cost      every page
:param limit => 50;

CALL () {
  MATCH (p:Page) WHERE p.fetch_seconds IS NOT NULL
  RETURN p.host AS host, avg(p.fetch_seconds) AS seconds, max(p.fetch_seconds) AS slowest, count(*) AS timed
UNION ALL
  MATCH (h:Host) WHERE h.pace IS NOT NULL
  RETURN h.name AS host, null AS seconds, null AS slowest, 0 AS timed
}
WITH host, max(seconds) AS seconds, max(slowest) AS slowest, max(timed) AS timed
OPTIONAL MATCH (h:Host {name: host})
WITH host, seconds, slowest, timed, h ORDER BY coalesce(seconds, 0) DESC, coalesce(h.pace, 1.0), host LIMIT $limit
RETURN round(seconds, 3) AS seconds, round(slowest, 3) AS slowest, timed, coalesce(h.pace, 1.0) AS pace, h.delay AS delay,
       h.robots_delay AS robots_delay, coalesce(h.errors, 0) AS complaints, host
ORDER BY coalesce(seconds, 0) DESC, pace, host
