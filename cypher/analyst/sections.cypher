// Parts of hosts, and what a fetch there is expected to bring
//
// A row is a section: pages of a host whose URLs answer the same questions, `!` before those whose answer is no
// (docs/explanation/sections.md). `harvest` is what a fetch is expected to bring that is new to the host, 0 to 1, learned from
// `visits`; by `factor` its new pages count where the setting value names harvest. Of `copies` less than a fifth was new.
// `waste` is waiting · (1 - harvest): so many waiting pages are expected to bring nothing. Without a host those are
// counted of which something was learned.
// `authority` is that of its pages inside the scope.
//
// group     Structure
// param     host  only this host; empty: all
// param     harvest  only sections whose harvest is at most this
// param     limit  how many sections
// computed  sections
// cost      every page
:param host => '';
:param harvest => 1.0;
:param limit => 50;
