// Pages that go away and come back
//
// Pages that visits have brought back, in these days, into a state that they had before, most often first: `times` counts
// all that happened to them since then. Of each page the last ten times are kept. `states` are those that it left, the
// oldest first, and the one that it has now; `failing` is a page that does not come, as with a 404 or no answer, once it
// was fetched, or before. A page whose host refuses (429, 503) is not taken to be away.
//
// group     Changes
// param     days  how many days back
// param     limit  how many pages
// cost      every page
:param days => 30.0;
:param limit => 100;

MATCH (p:Page) WHERE p.state_times[-1] >= timestamp() / 1000.0 - $days * 86400
// A first fetch after failures is none of these times, unless it made an alias.
WITH p, coalesce(p.failure_times[0] < p.first_fetched, false) AND size(p.state_times) < 10 AS failed_first,
     p.states_before[0] = 'frontier' AS from_frontier
WITH p, CASE WHEN failed_first AND NOT from_frontier THEN [p.first_fetched] ELSE [] END + p.state_times AS at,
     CASE WHEN failed_first THEN ['failing'] ELSE [] END +
     CASE WHEN failed_first AND from_frontier THEN p.states_before[1..] ELSE p.states_before END +
     CASE WHEN p.state_times[-1] > coalesce(p.fetched, 0.0) AND p.state IN ['known', 'alias', 'outside'] THEN 'failing' ELSE p.state END AS states
WHERE any(i IN range(0, size(at) - 1) WHERE at[i] >= timestamp() / 1000.0 - $days * 86400 AND states[i + 1] IN states[..i + 1])
RETURN size([t IN at WHERE t >= timestamp() / 1000.0 - $days * 86400]) AS times,
       datetime({epochSeconds: toInteger(at[-1])}) AS last,
       reduce(all = states[0], s IN states[1..] | all + ', ' + s) AS states,
       p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY times DESC, authority DESC, url LIMIT $limit
