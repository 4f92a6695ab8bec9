// Delete the note on a page.
//
// param   key   STRING  the page's key
// rows    none
// locks   the note
// mode    write
// retry   safe   what is gone is gone
MATCH (n:Note {key: $key})
DELETE n
