// Versions in other languages (hreflang) that search engines cannot use
//
// A row is a version that a page names, with the `problem` why it is of no use: `no such code`, where the code is no language
// of ISO 639-1 with a script or a region of ISO 3166-1, nor x-default; `several for this code`; or its target is not in the
// graph, fails, redirects, may not be fetched, is outside the scope, asks not to be found, names another page as its canonical,
// or `does not return`, as it does not name the page. `does not name itself` is of the page, which must be among its own
// versions. The crawler must report them; those that only a sitemap states are not known.
//
// group     Content
// param     host  only pages of this host; empty: all
// param     problem  only this problem; empty: all
// param     limit  how many rows
// cost      every page
:param host => '';
:param problem => '';
:param limit => 100;

// Pages and targets are brought together by the URL in one go: looked up one by one, each would cost the pages of its host.
CALL () {
  MATCH (p:Page) WHERE p.hreflang IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
    AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  UNWIND p.hreflang AS item
  RETURN substring(item, size(split(item, ' ')[0]) + 1) AS version, p, toLower(split(item, ' ')[0]) AS code, null AS target
UNION ALL
  MATCH (p:Page) WHERE p.hreflang IS NOT NULL AND p.state = 'known' AND p.led_to IS NULL AND ($host = '' OR p.host = $host)
    AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  UNWIND p.hreflang AS item
  WITH collect(DISTINCT substring(item, size(split(item, ' ')[0]) + 1)) AS named
  MATCH (q:Page) WHERE q.url IN named
  RETURN q.url AS version, null AS p, null AS code, q AS target
}
WITH version, collect([p, code]) AS named, head(collect(target)) AS q
UNWIND [each IN named WHERE each[0] IS NOT NULL] AS each
WITH each[0] AS p, each[1] AS code, version, q
WITH p, code, version, q,
     ' aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz '
     + 'ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik '
     + 'io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml '
     + 'mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd '
     + 'se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi '
     + 'vo wa wo xh yi yo za zh zu ' AS languages,
     ' ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw '
     + 'by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi '
     + 'fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in '
     + 'io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me '
     + 'mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf '
     + 'pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv '
     + 'sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws ye '
     + 'yt za zm zw ' AS regions
WITH p, code, version, q, languages CONTAINS ' ' + split(code, '-')[0] + ' ' AND (NOT code CONTAINS '-'
       OR regions CONTAINS ' ' + last(split(code, '-')) + ' ' OR code =~ '..-[a-z]{4}') AND code =~ '..(-[a-z]{4})?(-..)?'
     OR code = 'x-default' AS is_code
CALL (p, code, version, q, is_code) {
  UNWIND [CASE WHEN NOT is_code THEN 'no such code' END,
          CASE WHEN size([item IN p.hreflang WHERE toLower(split(item, ' ')[0]) = code]) > 1 THEN 'several for this code' END,
          CASE WHEN q IS NULL THEN 'is not in the graph'
               WHEN q.url = p.url THEN null
               WHEN q.state = 'alias' OR q.led_to IS NOT NULL THEN 'redirects'
               WHEN q.state = 'outside' AND q.outside_because = 'robots' THEN 'may not be fetched'
               WHEN q.state = 'outside' THEN 'is outside the scope'
               WHEN coalesce(q.failed, 0.0) > coalesce(q.fetched, 0.0) THEN 'fails'
               WHEN q.noindex THEN 'asks not to be found'
               WHEN q.canonical <> q.url THEN 'names another'
               WHEN q.state = 'known' AND NOT any(item IN coalesce(q.hreflang, []) WHERE item ENDS WITH ' ' + p.url)
                 THEN 'does not return' END] AS problem
  RETURN code AS stated, version AS names, problem
UNION
  WITH p WHERE NOT any(item IN p.hreflang WHERE item ENDS WITH ' ' + p.url)
  RETURN null AS stated, p.url AS names, 'does not name itself' AS problem
}
WITH DISTINCT p, problem, stated, names WHERE problem IS NOT NULL AND ($problem = '' OR problem = $problem)
WITH p, problem, stated, names, p.authority_history + p.authority_cash AS authority
ORDER BY authority DESC, p.url, problem, names LIMIT $limit
RETURN problem, stated AS code, names AS version, authority, p.url AS url
ORDER BY authority DESC, url, problem, version
