// Pages with images that have no alternative text
//
// A row is a page with `missing` images without the attribute `alt`, of `images` that it loads, the best page first, with
// three of them. An empty `alt` is right for an image that is an ornament. At most 200 images of a page are known. The
// crawler must report what pages load.
//
// group     Content
// param     host  only this host; empty: all
// param     limit  how many pages
// cost      every page
:param host => '';
:param limit => 100;

MATCH (p:Page) WHERE p.state = 'known' AND p.led_to IS NULL AND p.requisites IS NOT NULL AND ($host = '' OR p.host = $host)
  AND NOT coalesce(p.failed, 0.0) > coalesce(p.fetched, 0.0)
WITH p, [item IN p.requisites WHERE item STARTS WITH 'image ' | substring(item, 6)] AS images
WITH p, images, [image IN images WHERE NOT image CONTAINS ' '] AS missing WHERE size(missing) > 0
WITH p, images, missing, p.authority_history + p.authority_cash AS authority ORDER BY authority DESC, p.url LIMIT $limit
RETURN size(missing) AS missing, size(images) AS images, missing[..3] AS such_as, authority, p.url AS url
ORDER BY authority DESC, url
