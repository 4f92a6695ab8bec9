// Write the virtual page's account, the offsets and the clock.
//
// param   virtual  MAP  properties that begin with virtual_; the caller has locked the Brain, or is the only writer
// rows    none
// locks   the Brain, held already
// mode    write
// retry   safe   absolute values, computed from the locked state
MATCH (b:Brain {key: 'brain'})
SET b += $virtual
