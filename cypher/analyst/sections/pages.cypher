// The pages of a host in the order of the index, for its sections to be counted.
//
// param   host       STRING   its name
// column  url        STRING   its address
// column  state      STRING   as of pages
// column  learned    BOOLEAN  was it ever fetched?
// column  echo       BOOLEAN  had a page of its name been fetched before?
// column  failing    BOOLEAN  did its last try fail?
// column  brought    FLOAT    what it brought, 0 to 1, or null
// column  queued     BOOLEAN  does it wait, or is it claimed?
// column  authority  FLOAT    its authority; 0 outside the scope
// column  led        BOOLEAN  does it lead elsewhere for now?
// rows    many
// locks   none
// mode    read
// reads   any
// retry   safe
MATCH (p:Page {host: $host})
RETURN p.url AS url, p.state AS state, p.first_fetched IS NOT NULL AS learned,
       coalesce(p.echo, false) AS echo,
       coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0) AS failing, p.brought AS brought,
       p.queue IS NOT NULL OR p.lease IS NOT NULL OR p.not_before IS NOT NULL AS queued,
       CASE WHEN p.state = 'outside' AND p.outside_because = 'scope' THEN 0.0
       ELSE p.authority_history + p.authority_cash END AS authority, p.led_by IS NOT NULL AS led
