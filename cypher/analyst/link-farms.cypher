// Link farms: groups of hosts that mostly link among themselves
//
// A row is a group of hosts that all reach each other by links both ways. `inside` is the share of the links to the
// group that comes from within it, and `density` the share of its pairs of hosts that are linked. Groups with both
// near 1, and an authority for each page above the mean of 1, deserve a look.
//
// group     Hosts
// param     least  only groups of so many hosts
// param     limit  how many groups
// computed  link_farms
// cost      every link
:param least => 3;
:param limit => 20;
