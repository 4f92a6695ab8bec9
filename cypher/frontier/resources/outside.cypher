// URLs outside the scope to which pages link, of the pages in a range of internal ids.
//
// param   first  INTEGER  the first id
// param   last   INTEGER  the last id
// column  urls   LIST     the URL of each
// rows    one
// locks   none
// mode    read
// retry   safe
UNWIND range($first, $last) AS i
MATCH (p:Page) WHERE id(p) = i
WITH p WHERE p.state = 'outside' AND p.outside_because = 'scope'
  AND EXISTS { (p)<-[:LINKS|SPELLS]-(:Page) }
RETURN collect(p.url) AS urls
