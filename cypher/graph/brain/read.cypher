// Return the brain of this database.
//
// column  brain    MAP      all properties of the (:Brain), or null
// rows    one
// locks   none
// mode    read
// retry   safe
OPTIONAL MATCH (b:Brain {key: 'brain'})
RETURN properties(b) AS brain
