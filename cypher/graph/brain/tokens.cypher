// Make the names of properties and relationship types known to the database.
//
// A plan that was made before a name was known looks it up at each run, and shares the result with concurrent runs
// without a lock: for a moment a run can miss properties or links that exist.
//
// param   properties  LIST  names of properties
// param   types       LIST  relationship types
// column  made        INTEGER  the number of types
// rows    one
// locks   none
// mode    write
// retry   safe   a known name stays known
UNWIND $properties AS property
CALL db.createProperty(property)
WITH count(*) AS done
UNWIND $types AS type
CALL db.createRelationshipType(type)
RETURN count(*) AS made
