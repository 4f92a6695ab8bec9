// One host.

import { get, Refused } from "./api.js";
import { card, facts, h, page, show, table, to, visible } from "./dom.js";
import { count, percent, score, span, time } from "./format.js";
import { blockedBecause, until } from "./hosts.js";

const SHOWN = 50;
const REST = 30000;  // the cards below the first one are read again after so many milliseconds, or ten readings

// The cards below the first one; each shows what it has as soon as that is read.
const TITLES = [["Pages by state"], ["Failures by kind"], ["Sitemaps"], ["robots.txt and sitemaps as claims", "wide"], ["Its best pages", "wide"], ["Sections", "wide"], ["robots.txt", "wide"]];

const states = ({ data, as_of }) => [table("Pages of this host by state", [["state", (row) => row[0]], ["pages", (row) => count(row[1]), "number"], ["of them fail", (row) => count(row[2]), "number"], ["in a sitemap", (row) => count(row[3]), "number"]], data.states), h("p", { class: "soft" }, `Counted at ${time(as_of)}.`)];

const faults = ({ data }) => table("Pages of this host that fail, by kind", [["kind", (row) => row[0] ?? "not known"], ["pages", (row) => count(row[1]), "number"]], data.faults, "No page fails.");

function sitemaps([{ data }, robots]) {
  const named = (robots.text ?? "").split("\n").map((line) => /^\s*sitemap\s*:\s*(\S+)/i.exec(line)?.[1]).filter(Boolean);
  return facts([["pages that one names", count(data.states.reduce((sum, [, , , some]) => sum + some, 0))], ["last read", time(data.sitemap)],
    ["named by robots.txt", named.length ? named.slice(0, SHOWN).map((each) => h("div", {}, visible(each))) : "none"]]);
}

const resources = (claimed) => table("robots.txt and sitemaps that crawlers claim", [["URL", (row) => visible(row.url), "url"], ["state", (row) => row.state], ["read", (row) => time(row.fetched)], ["next", (row) => time(row.due)], ["entries", (row) => row.entries === null ? "–" : count(row.entries), "number"], ["true dates", (row) => row.true_dates === null ? "–" : percent(row.true_dates), "number"], ["note", (row) => visible(row.note ?? "")]], claimed, "No crawler claims them.");

const best = ({ data }) => table("Pages of this host", [["page", (row) => page(row[0]), "url"], ["state", (row) => row[1]], ["status", (row) => row[2] ?? "–", "number"], ["authority", (row) => score(row[3]), "number"], ["visits", (row) => count(row[4]), "number"]], data.best);

const sections = (parts) => table("Sections of this host", [["section", (row) => visible(row.pattern || "all of it"), "url"], ["pages", (row) => count(row.pages), "number"], ["fetched", (row) => count(row.fetched), "number"], ["waiting", (row) => count(row.waiting), "number"], ["failing", (row) => count(row.failing), "number"], ["a fetch brings", (row) => percent(row.harvest), "number"]], parts.sections);

/** When its robots.txt was set: for both schemes, or for one of them, as by crawlers that claim it. */
function robotsOf({ robots_at, robots_http_at, robots_https_at }) {
  const set = Math.max(robots_at ?? 0, robots_http_at ?? 0, robots_https_at ?? 0);
  return set ? `set ${time(set)}` : "not set";
}

const robotsText = ({ text }) => (text === null ? h("p", { class: "soft" }, "None was set.") : h("details", {}, h("summary", {}, "Show it"), h("pre", { class: "said" }, text.split("\n").slice(0, 500).map(visible).join("\n"))));

/** Show what is read in the card, below its heading, or why it cannot be read. Returns whether it was read. */
async function fill(place, read, view) {
  const inside = place.firstChild;
  try {
    const found = view(await read), open = inside.querySelector("details")?.open;
    show(inside, inside.firstChild, found);
    if (open) inside.querySelector("details")?.setAttribute("open", "");
    return true;
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error;
    show(inside, inside.firstChild, h("p", { class: "error" }, visible(error.message)));
    return false;
  }
}

export const host = ({ main, query, me, signal, stamp }) => {
  const name = query.name ?? "";
  const body = h("div"), more = h("div", { class: "cards" }, TITLES.map(([title, kind]) => h("div", { class: kind }, card(title, h("p", { class: "soft" }, "Being read.")))));
  main.append(h("h1", {}, visible(name)), h("p", {}, h("a", { href: to("hosts") }, "All hosts")), body, more);
  let next = 0, reads = {};  // what failed is read again, and nothing else until `next`
  const once = (path, asked) => (reads[path] ??= get(path, asked, signal).catch((error) => {
    delete reads[path];
    throw error;
  }));
  return async () => {
    const found = await get("host", { name }, signal);
    stamp({ as_of: Date.now() / 1000, took: 0 });
    const pages = found.pages === null ? null : `${count(found.pages)}${found.more_pages ? " or more" : ""}`;
    show(body, card("Manners and health", facts([
      ["pages", pages],
      ["in the scope", found.in_scope ? "yes" : "no: it is not fetched"],
      ["blocked", found.blocked_until ? `${until(found.blocked_until)}: ${blockedBecause(found)}` : "no"],
      ["fails", found.failing_since ? `${found.illness ?? "yes"}, since ${time(found.failing_since)}` : "no"],
      ["asked again at", time(found.probe_at)],
      ["next claim from", found.next_at > Date.now() / 1000 ? time(found.next_at) : null],
      ["delay", `${span(found.delay)}${found.own_delay === null ? "" : ", set by hand"}`],
      ["delay of its robots.txt", found.robots_delay === null ? null : span(found.robots_delay)],
      ["last fetch took", found.response_seconds === null ? null : span(found.response_seconds)],
      ["pace", found.pace < 1 ? `${percent(found.pace)} of its full rate; ${count(found.complaints)} times 429 or 503 in a row` : "its full rate"],
      ["claims out", `${count(found.in_flight)}${found.most_in_flight ? ` of ${count(found.most_in_flight)}` : ""}`],
      ["budget", found.budget ? `${count(found.budget_used)} of ${count(found.budget)} pages` : "no limit"],
      ["robots.txt", robotsOf(found)],
      ["address", found.address],
      ["leads visits to", found.wall === null ? null : `${visible(found.wall)} (${count(found.walled)} pages): a login or a consent page?`],
      ["known since", time(found.discovered)],
    ]), me.role === "operator" ? h("p", {}, h("a", { href: to("act", { host: name }) }, "Act on this host")) : null));
    const began = Date.now();
    if (began < next) return;
    const counts = once("watch/host", { name: found.name }), robots = once("robots", { host: name }), parts = once("sections", { name });
    const filled = await Promise.all([
      fill(more.children[0], counts, states), fill(more.children[1], counts, faults),
      fill(more.children[2], Promise.all([counts, robots]), sitemaps), fill(more.children[3], Promise.resolve(found.resources ?? []), resources),
      fill(more.children[4], counts, best), fill(more.children[5], parts, sections), fill(more.children[6], robots, robotsText),
    ]);
    if (filled.every(Boolean)) {
      reads = {};
      next = Date.now() + Math.max(REST, 10 * (Date.now() - began));
    }
  };
};
