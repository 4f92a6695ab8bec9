// Hosts that answer slowly
//
// `seconds` is how long a host's answers took of late, as a running mean; it is known where the crawler reports
// `seconds` and the setting `response_times` is on, or by the pace of hosts that complained: `pace` 0.5 means that it
// is asked half as often as its delay would allow.
//
// group     Errors
// param     limit  how many hosts
:param limit => 50;

MATCH (h:Host) WHERE h.response_seconds IS NOT NULL OR h.pace IS NOT NULL
RETURN round(h.response_seconds, 3) AS seconds, coalesce(h.pace, 1.0) AS pace, h.delay AS delay, h.robots_delay AS robots_delay,
       coalesce(h.errors, 0) AS complaints, h.name AS host
ORDER BY coalesce(h.response_seconds, 0) DESC, pace DESC, host LIMIT $limit
