// Click depth against what is there
//
// A row is a number of clicks from a seed, by links alone; without `clicks`: pages to which no links lead from a seed, as those
// that came by a sitemap. `failing` pages did not answer properly when they were last tried, `authority` is the mean score.
// Pages that matter should be near; where the mean score rises with depth, good pages are hidden. The frontier's own depth,
// by which `max_depth` goes, is on the page.
//
// group     Structure
// computed  click_depth
// cost      every link
