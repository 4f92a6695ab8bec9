// Return sums over all accounts that need no neighbours: the waiting cash and all cash. Reads every page.
//
// param   alpha    FLOAT  least share of cash that leaves at every push
// column  held     FLOAT  sum of history + cash of both sides
// column  paid     FLOAT  sum of payouts, and of weight times paid of both sides
// column  waiting  FLOAT  sum of what pushes of all sides would pay, in absolute value
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page)
WITH p, p.hub_history + p.hub_cash AS hub, p.authority_history + p.authority_cash AS authority,
     p.out_weight AS dh, p.in_weight AS da,
     CASE WHEN p.relevance IS NULL THEN 0.5 WHEN p.relevance < 0.001 THEN 0.001
          WHEN p.relevance > 0.999 THEN 0.999 ELSE p.relevance END AS r
WITH p, hub, authority, dh, da,
     CASE WHEN dh / (dh + 1) < 1 - $alpha THEN dh / (dh + 1) ELSE 1 - $alpha END AS kh,
     CASE WHEN da / (da + (1 - r) / r) < 1 - $alpha THEN da / (da + (1 - r) / r) ELSE 1 - $alpha END AS ka
RETURN coalesce(sum(hub + authority), 0.0) AS held,
       coalesce(sum(2 * coalesce(p.payout, 1.0) + dh * p.hub_paid + da * p.authority_paid), 0.0) AS paid,
       coalesce(sum(abs(kh * hub - dh * p.hub_paid) + abs(ka * authority - da * p.authority_paid)), 0.0) AS waiting
