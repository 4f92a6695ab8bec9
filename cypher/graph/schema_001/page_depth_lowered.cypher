// Pages whose lower depth has still to be passed on.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_depth_lowered IF NOT EXISTS FOR (p:Page) ON (p.depth_lowered)
