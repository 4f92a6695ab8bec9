// Pages whose texts are nearly the same
//
// A row is a group of pages whose simhashes differ in at most `bits` of 64 bits, or are linked by such; texts that
// share most of their words. Of a group of several hundred, the pages at both ends may differ more. The best page
// comes first.
//
// group     Content
// param     bits  how many bits may differ, 0 to 7
// param     limit  how many groups
// computed  near_duplicates
// cost      every page
:param bits => 3;
:param limit => 50;
