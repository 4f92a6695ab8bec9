// Make the brain of what an import has left, unless somebody has: the schema must be there before.
//
// column  brain    MAP      all its properties
// rows    one
// locks   the node
// mode    write
// retry   safe   what is a brain stays one
OPTIONAL MATCH (i:Imported {key: 'brain'})
REMOVE i:Imported, i.kept_tokens
SET i:Brain
WITH count(i) AS adopted
MATCH (b:Brain {key: 'brain'})
RETURN properties(b) AS brain
