// Make this database a brain, unless it is one.
//
// param   settings  MAP     the fixed and shared settings
// param   now       FLOAT   seconds since the epoch
// param   rules     INTEGER the version of the URL rules
// column  brain     MAP     all its properties; another process may have made them
// rows    one
// locks   the Brain
// mode    write
// retry   safe   MERGE on a unique key
MERGE (b:Brain {key: 'brain'})
ON CREATE SET b += $settings, b.name = $settings.crawl, b.created = $now, b.url_rules = $rules, b.revision = 0
RETURN properties(b) AS brain
