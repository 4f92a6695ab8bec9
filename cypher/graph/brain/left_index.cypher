// The index that an interrupted creation of a constraint has left.
//
// param   name  STRING   of the constraint, and of its index
// column  name  STRING   the same
// rows    many
// locks   none
// mode    read
// retry   safe
SHOW INDEXES YIELD name, owningConstraint
WHERE name = $name AND owningConstraint IS NULL
RETURN name
