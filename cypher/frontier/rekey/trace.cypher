// Note under which key a page is found that was leased under another.
//
// param   rows   LIST     [the key it had, the key it has]
// param   rules  INTEGER  the version of the URL rules that have given it that
// rows    none
// locks   the notes of these keys
// mode    write
// retry   safe   MERGE on a unique key
UNWIND $rows AS row
MERGE (m:Moved {key: row[0]})
SET m.to = row[1], m.rules = $rules
