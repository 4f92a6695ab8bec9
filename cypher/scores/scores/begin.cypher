// Record that scores of a method are about to be written, and how they were computed.
//
// param   method   STRING  one of the methods of `graphbrain rank`
// param   facts    MAP     its parameters and figures, with a token of the writer
// rows    none
// locks   the Brain, then the Ranking: one (:Ranking) a method, without an index for so few
// mode    write
// retry   safe   absolute values
MATCH (b:Brain {key: 'brain'})
SET b:Brain
MERGE (r:Ranking {method: $method})
SET r = $facts, r.method = $method, r.complete = false
