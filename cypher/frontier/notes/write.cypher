// Keep notes on pages, known or to come; the first note on a page stays.
//
// param   rows   LIST   [key, text], in the order of the keys
// rows    none
// locks   the notes
// mode    write
// retry   safe   MERGE on a unique key, written only when it is made
UNWIND $rows AS row
MERGE (n:Note {key: row[0]})
ON CREATE SET n.text = row[1]
