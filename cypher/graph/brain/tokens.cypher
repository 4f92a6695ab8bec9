// Make the names of properties and of kinds of links known to the database.
//
// A plan that was made before a name was known looks it up each time it runs, and shares what it finds with whoever
// runs it beside, without a lock: for a moment one can miss properties or links that are there.
//
// param   properties  LIST  names of properties
// param   types       LIST  kinds of links
// column  made        INTEGER  how many kinds of links
// rows    one
// locks   none
// mode    write
// retry   safe   a name that is known stays
UNWIND $properties AS property
CALL db.createProperty(property)
WITH count(*) AS done
UNWIND $types AS type
CALL db.createRelationshipType(type)
RETURN count(*) AS made
