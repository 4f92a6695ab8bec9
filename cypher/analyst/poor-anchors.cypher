// Links without a text that describes their target
//
// A row is a text that describes no page, such as “here”, or no text at all (null), on the pages of a host, with the `links` that
// have it, the `targets` that they lead to inside the host, and three of the pages. The text of a link without any is that of
// its image (`alt`). Links without text are counted on pages with other links that have one: the crawler must report texts.
//
// group     Content
// param     host  only links on this host; empty: all
// param     limit  how many rows
// cost      every link: some 1 to 2 s for a million links
:param host => '';
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_by IS NULL AND ($host = '' OR p.host = $host)
CALL (p) {
  MATCH (p)-[r:LINKS|SPELLS]->(to:Page) WHERE r.via IS NULL AND to.host = p.host
  RETURN collect([toLower(r.anchor), to.url]) AS links
}
WITH p, links WHERE any(link IN links WHERE link[0] IS NOT NULL)
UNWIND links AS link
WITH p, link[0] AS anchor, link[1] AS target
WHERE anchor IS NULL OR anchor IN ['here', 'click here', 'click', 'click this', 'this', 'this link', 'this page', 'link', 'more',
  'more...', 'more…', 'read more', 'read more...', 'read more…', 'learn more', 'find out more', 'see more', 'show more',
  'view more', 'more info', 'more information', 'details', 'view', 'view details', 'go', 'go here', 'start', 'continue',
  'continue reading', 'right here', 'next', 'page', 'article', 'website', 'mehr', 'hier', 'weiter', 'weiterlesen',
  'mehr erfahren', 'klicken sie hier', 'ici', 'cliquez ici', 'lire la suite', 'en savoir plus', 'plus', 'aquí', 'haz clic aquí',
  'leer más', 'más', 'más información', 'qui', 'clicca qui', 'leggi tutto', 'clique aqui', 'leia mais', 'saiba mais']
WITH p, anchor, target ORDER BY p.url
WITH p.host AS host, anchor, count(*) AS links, count(DISTINCT target) AS targets, collect(DISTINCT p.url)[..3] AS such_as
RETURN anchor, links, targets, host, such_as
ORDER BY links DESC, host, anchor LIMIT $limit
