// Count the aliases that redirect to a page outside the crawl. Reads every alias: for people, not for programs.
//
// column  aliases  INTEGER  their number
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (:Page)-[r:REDIRECTS_TO]->(q:Page) WHERE q.state = 'outside'
RETURN count(r) AS aliases
