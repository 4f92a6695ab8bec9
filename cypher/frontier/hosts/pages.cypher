// All pages of a host.
//
// param   name  STRING  host name
// column  ids   LIST    internal ids
// rows    one
// locks   none
// mode    read
// retry   safe
MATCH (p:Page {host: $name})
RETURN collect(id(p)) AS ids
