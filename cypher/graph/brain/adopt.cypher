// Make a brain of the properties that an import has left, unless it is one. The schema must exist before.
//
// column  brain    MAP      all its properties
// rows    one
// locks   the node
// mode    write
// retry   safe   a brain stays one
OPTIONAL MATCH (i:Imported {key: 'brain'})
REMOVE i:Imported, i.kept_tokens
SET i:Brain
WITH count(i) AS adopted
MATCH (b:Brain {key: 'brain'})
RETURN properties(b) AS brain
