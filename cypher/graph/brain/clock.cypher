// Return the time of the server's clock.
//
// column  millis  INTEGER  milliseconds since the epoch
// rows    one
// locks   none
// mode    read
// retry   safe
RETURN timestamp() AS millis
