// Types, languages, sizes and times of pages
//
// A row is a content type and a language with the number of their pages, their mean and largest size in bytes, and
// their mean time to fetch in seconds. Pages that fail now are left out. These facts must be reported by the crawler.
//
// group     Content
// param     limit  how many rows
// cost      every page
:param limit => 50;

MATCH (p:Page) WHERE p.state <> 'alias' AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
  AND (p.content_type IS NOT NULL OR p.language IS NOT NULL OR p.size IS NOT NULL)
RETURN p.content_type AS type, p.language AS language, count(*) AS pages, round(avg(p.size)) AS mean_size, max(p.size) AS largest,
       round(avg(p.fetch_seconds), 3) AS seconds
ORDER BY pages DESC, type, language LIMIT $limit
