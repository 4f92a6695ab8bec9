// Lock the brain and read its properties.
//
// column  brain    MAP      all properties of the (:Brain)
// rows    one
// locks   the Brain
// mode    write
// retry   safe   writes nothing
MATCH (locked:Brain {key: 'brain'})
SET locked:Brain
WITH count(*) AS held
MATCH (b:Brain {key: 'brain'})
RETURN properties(b) AS brain
