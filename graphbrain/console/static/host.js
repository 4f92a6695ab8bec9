// One host.

import { get } from "./api.js";
import { card, facts, h, page, show, table, to, visible } from "./dom.js";
import { count, percent, score, span, time } from "./format.js";
import { blockedBecause, until } from "./hosts.js";

const SHOWN = 50;

export const host = ({ main, query, me, signal, stamp }) => {
  const name = query.name ?? "";
  const body = h("div"), more = h("div", { class: "cards" });
  main.append(h("h1", {}, visible(name)), h("p", {}, h("a", { href: to("hosts") }, "All hosts")), body, more);
  let begun = false, claimed = [];
  return async () => {
    const found = await get("host", { name }, signal);
    claimed = found.resources ?? [];
    stamp({ as_of: Date.now() / 1000, took: 0 });
    const pages = found.pages === null ? null : `${count(found.pages)}${found.more_pages ? " or more" : ""}`;
    show(body, card("Manners and health", facts([
      ["pages", pages],
      ["in the scope", found.in_scope ? "yes" : "no: it is not fetched"],
      ["blocked", found.blocked_until ? `${until(found.blocked_until)}: ${blockedBecause(found)}` : "no"],
      ["fails", found.failing_since ? `${found.illness ?? "yes"}, since ${time(found.failing_since)}` : "no"],
      ["asked again at", time(found.probe_at)],
      ["next claim from", time(found.next_at)],
      ["delay", `${span(found.delay)}${found.own_delay === null ? "" : ", set by hand"}`],
      ["delay of its robots.txt", found.robots_delay === null ? null : span(found.robots_delay)],
      ["last fetch took", found.response_seconds === null ? null : span(found.response_seconds)],
      ["pace", found.pace < 1 ? `${percent(found.pace)} of its full rate; ${count(found.complaints)} times 429 or 503 in a row` : "its full rate"],
      ["claims out", `${count(found.in_flight)}${found.most_in_flight ? ` of ${count(found.most_in_flight)}` : ""}`],
      ["budget", found.budget ? `${count(found.budget_used)} of ${count(found.budget)} pages` : "no limit"],
      ["robots.txt", found.robots_at === null ? "not set" : `set ${time(found.robots_at)}`],
      ["address", found.address],
      ["leads visits to", found.wall === null ? null : `${visible(found.wall)} (${count(found.walled)} pages): a login or a consent page?`],
      ["known since", time(found.discovered)],
    ]), me.role === "operator" ? h("p", {}, h("a", { href: to("act", { host: name }) }, "Act on this host")) : null));
    if (begun) return;
    begun = true;
    const [parts, robots, counts] = await Promise.all([
      get("sections", { name }, signal),
      get("robots", { host: name }, signal),
      get("watch/host", { name: found.name }, signal),
    ]);
    const named = (robots.text ?? "").split("\n").map((line) => /^\s*sitemap\s*:\s*(\S+)/i.exec(line)?.[1]).filter(Boolean);
    const listed = counts.data.states.reduce((sum, [, , , some]) => sum + some, 0);
    show(more,
      card("Pages by state", table("Pages of this host by state", [["state", (row) => row[0]], ["pages", (row) => count(row[1]), "number"], ["of them fail", (row) => count(row[2]), "number"], ["in a sitemap", (row) => count(row[3]), "number"]], counts.data.states)),
      card("Failures by kind", table("Pages of this host that fail, by kind", [["kind", (row) => row[0] ?? "not known"], ["pages", (row) => count(row[1]), "number"]], counts.data.faults, "No page fails.")),
      card("Sitemaps", facts([["pages that one names", count(listed)], ["last read", time(counts.data.sitemap)],
        ["named by robots.txt", named.length ? named.slice(0, SHOWN).map((each) => h("div", {}, visible(each))) : "none"]])),
      h("div", { class: "wide" }, card("robots.txt and sitemaps as claims", table("robots.txt and sitemaps that crawlers claim", [["URL", (row) => visible(row.url), "url"], ["state", (row) => row.state], ["read", (row) => time(row.fetched)], ["next", (row) => time(row.due)], ["entries", (row) => row.entries === null ? "–" : count(row.entries), "number"], ["true dates", (row) => row.true_dates === null ? "–" : percent(row.true_dates), "number"], ["note", (row) => visible(row.note ?? "")]], claimed, "No crawler claims them."))),
      h("div", { class: "wide" }, card("Its best pages", table("Pages of this host", [["page", (row) => page(row[0]), "url"], ["state", (row) => row[1]], ["status", (row) => row[2] ?? "–", "number"], ["authority", (row) => score(row[3]), "number"], ["visits", (row) => count(row[4]), "number"]], counts.data.best))),
      h("div", { class: "wide" }, card("Sections", table("Sections of this host", [["section", (row) => visible(row.pattern || "all of it"), "url"], ["pages", (row) => count(row.pages), "number"], ["fetched", (row) => count(row.fetched), "number"], ["waiting", (row) => count(row.waiting), "number"], ["failing", (row) => count(row.failing), "number"], ["a fetch brings", (row) => percent(row.harvest), "number"]], parts.sections))),
      h("div", { class: "wide" }, card("robots.txt", robots.text === null ? h("p", { class: "soft" }, "None was set.") : h("details", {}, h("summary", {}, "Show it"), h("pre", { class: "said" }, robots.text.split("\n").slice(0, 500).map(visible).join("\n"))))));
  };
};
