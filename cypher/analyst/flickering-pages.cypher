// Pages that go away and come back
//
// Pages that visits have put into another state twice or more in these days, most often first; of each page the last ten
// times are kept. `states` are those that it left, the oldest first, and the one that it has now.
//
// group     Changes
// param     days  how many days back
// param     limit  how many pages
// cost      every page
:param days => 30.0;
:param limit => 100;

MATCH (p:Page) WHERE p.state_times[-2] >= timestamp() / 1000.0 - $days * 86400
WITH p, size([t IN p.state_times WHERE t >= timestamp() / 1000.0 - $days * 86400]) AS times
RETURN times, datetime({epochSeconds: toInteger(p.state_times[-1])}) AS last,
       reduce(all = '', s IN p.states_before | all + s + ', ') + p.state AS states,
       p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY times DESC, authority DESC, url LIMIT $limit
