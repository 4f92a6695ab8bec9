// Pages whose last visit was led elsewhere by temporary redirects, by host and where that was.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_leads_to IF NOT EXISTS FOR (p:Page) ON (p.leads_to)
