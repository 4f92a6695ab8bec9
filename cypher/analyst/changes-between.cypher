// What changed between two dates
//
// A row is something that a visit found out between the beginning of the day `since` and that of the day `until`, in
// UTC, the latest first: a page that was fetched for the first time (`new`), whose content was another one (`changed`),
// that came to fail or came again, or went from one state to another. Of each page the last ten times are kept.
//
// group     Changes
// param     since  a day, such as 2026-11-01; empty: a week ago
// param     until  a day; empty: now
// param     limit  how many rows
// cost      every page
:param since => '';
:param until => '';
:param limit => 100;

WITH CASE WHEN $since = '' THEN timestamp() / 1000.0 - 604800 ELSE datetime($since).epochMillis / 1000.0 END AS begin,
     CASE WHEN $until = '' THEN timestamp() / 1000.0 ELSE datetime($until).epochMillis / 1000.0 END AS end
MATCH (p:Page) WHERE p.first_fetched IS NOT NULL
WITH p, begin, end, coalesce(p.states_before, []) +
     CASE WHEN p.state_times[-1] > coalesce(p.fetched, 0.0) AND p.state IN ['known', 'alias', 'outside'] THEN 'failing'
          ELSE p.state END AS states
WITH p, begin, end, [[p.first_fetched, 'new']] + [t IN coalesce(p.change_times, []) | [t, 'changed']] +
     [i IN range(0, size(coalesce(p.state_times, [])) - 1) | [p.state_times[i], states[i] + ' → ' + states[i + 1]]] AS events
UNWIND events AS event
WITH p, event[0] AS at, event[1] AS what, begin, end
WHERE at >= begin AND at < end
RETURN datetime({epochSeconds: toInteger(at)}) AS at, what, p.authority_history + p.authority_cash AS authority, p.url AS url
ORDER BY at DESC, what, url LIMIT $limit
