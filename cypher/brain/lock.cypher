// Lock the brain and read what stands on it.
//
// column  brain    MAP      all properties of the (:Brain)
// rows    one
// locks   the Brain
// mode    write
// retry   safe   writes nothing
MATCH (b:Brain {key: 'brain'})
SET b:Brain
WITH b
RETURN properties(b) AS brain
