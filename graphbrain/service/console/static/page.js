// One page: its state and why, when it comes next, its visits, links, and who pays it.

import { get, lines, post } from "./api.js";
import { card, facts, h, host, page as pageLink, show, table, to, visible } from "./dom.js";
import { count, many, percent, score, span, time } from "./format.js";

const SHOWN = 100;
const REST = 30000;  // what is beside the page's own facts is read again after so many milliseconds, or ten readings

function why(page, { ahead, beside, host_may, least }) {
  if (page.state === "outside") return page.outside_because === "robots" ? "Its robots.txt forbids it." : "It is outside the scope.";
  if (page.state === "alias") return "It redirects for good.";
  if (page.state === "parked") return `It was given up: ${page.parked_because ?? "it failed too often"}.`;
  if (page.state === "gone") return "Its server answered that it is gone.";
  if (page.lease_until !== null) return `${page.worker ?? "A worker"} holds it; the lease ends ${time(page.lease_until)}.`;
  if (page.not_before !== null) return `It failed, and is tried again from ${time(page.not_before)} on.`;
  if (page.state === "known" && page.due !== null) return `It was fetched; its next visit is due ${time(page.due)}.`;
  if (page.state === "known") return `It was fetched; its next visit ${least ? `is not before ${time(page.fetched + least)}, and ` : ""}depends on the pace of the crawl.`;
  const queue = ahead === null || ahead === undefined ? "" : `It waits: ${many(ahead, "page")} of its queue ${ahead === 1 ? "is" : "are"} in lanes before its own, ${count(beside)} in its own.`;
  if (host_may) return `${queue} Its host may be asked again at ${time(host_may)}.`.trim();
  if (queue) return queue;
  return "It waits for nothing.";
}

const CURED = { frontier: "waits", known: "fetched", alias: "redirects", outside: "outside", parked: "parked", gone: "gone", failing: "fails" };

/** The kept history of a page, the latest first: [when, what]. */
function history(found, { changes = [], states = [], failures = [] }) {
  const left = [...states.map(([, state]) => state).slice(1), null];
  const now = found.failing_since !== null && found.state === "known" ? "failing" : found.state;
  const moved = states.map(([at, state], place) => [at, `${CURED[state] ?? state} → ${CURED[left[place] ?? now] ?? left[place] ?? now}`]);
  return [
    ...(found.discovered === null ? [] : [[found.discovered, "found"]]),
    ...(found.first_fetched === null ? [] : [[found.first_fetched, "fetched for the first time"]]),
    ...changes.map((at) => [at, "its content had changed"]),
    ...failures.map(([at, status]) => [at, status ? `failed: ${status}` : "failed: no answer"]),
    ...moved,
  ].sort((one, other) => other[0] - one[0]);
}

const linked = (title, rows, way) => card(title, table(title, [
  ["page", (row) => pageLink(row.url), "url"],
  ["text of the link", (row) => visible(row.anchor ?? ""), "said"],
  ["rel", (row) => visible(row.rel ?? "")],
  ["state", (row) => row.state],
  [way === "in" ? "its hub score" : "its authority", (row) => score(way === "in" ? row.hub_score : row.authority_score), "number"],
  ["since", (row) => time(row.since)?.slice(0, 10) ?? "–", "short"]], rows, "None."),
  rows.length === SHOWN ? h("p", { class: "soft" }, `The best ${SHOWN}; 'graphbrain links' lists all.`) : null);

export const page = ({ main, query, me, signal, stamp }) => {
  const url = query.url ?? "";
  const field = h("input", { value: url, required: true, inputmode: "url", placeholder: "https://www.example.org/" });
  main.append(h("h1", {}, url ? visible(url) : "Page"), h("form", { class: "line", submit: (event) => {
    event.preventDefault();
    location.hash = to("page", { url: field.value.trim() });
  } }, h("label", {}, h("span", {}, "URL or key"), field), h("button", { class: "do" }, "Show")));
  const body = h("div", { class: "cards" });
  main.append(body);
  let before = "", next = 0;
  return async () => {
    if (!url) return;
    const began = Date.now(), found = await get("page", { url }, signal);
    const told = JSON.stringify(found);
    if (told === before && began < next) return;
    const [into, out, paid, notes, kept] = await Promise.all([
      lines("links", { url, way: "in", limit: SHOWN }, signal),
      lines("links", { url, way: "out", limit: SHOWN }, signal),
      get("payments", { url, n: 10 }, signal),
      post("notes", { pages: [found.key] }),
      get("watch/page", { key: found.key }, signal),
    ]);
    const took = Date.now() - began;
    before = told;
    next = Date.now() + Math.max(REST, 10 * took);
    stamp({ as_of: began / 1000, took: took / 1000 });
    const secure = /^https?:\/\//.test(found.url);
    show(body,
      card("State", facts([
        ["state", found.state], ["why", why(found, kept.data)], ["host", host(found.host)],
        ["kind", found.content_type], ["title", found.title === null ? null : visible(found.title)],
        ["redirects to", found.redirects_to === null ? null : pageLink(found.redirects_to)],
        ["leads to, for now", found.led_to ? pageLink(found.led_to) : null],
        ["canonical", found.canonical ? pageLink(found.canonical) : null],
        ["note", notes.notes[found.key] ? visible(notes.notes[found.key]) : null],
        ["section", found.section ? `${visible(found.section.pattern || "all of its host")}: ${percent(found.section.harvest)} of the text of a fetch is expected to be new` : null],
        ["its section's factor", found.section ? score(found.section.factor) : null],
        ["expected to equal", found.expected_copy ? [pageLink(found.expected_copy.url), ` ${visible(found.expected_copy.because)}`] : null],
        ["clicks from a seed", found.clicks === null ? "no links lead here" : count(found.clicks)],
      ]), h("p", {}, secure ? h("a", { href: found.url, rel: "noreferrer noopener nofollow", target: "_blank" }, "Open the page itself") : null,
        me.role === "operator" ? [" ", h("a", { href: to("act", { url: found.url }) }, "Act on this page")] : null)),
      card("Visits", facts([
        ["next visit", time(found.due) ?? time(found.recheck_at)],
        ["found", time(found.discovered)], ["first fetched", time(found.first_fetched)], ["last fetched", time(found.fetched)],
        ["last changed", time(found.changed)], ["visits, changes", `${count(found.visits)}, ${count(found.changes)}`],
        ["status", found.status], ["bytes", found.size === null || found.size === undefined ? null : count(found.size)],
        ["last failure", time(found.failed)], ["error", found.error === null ? null : visible(found.error)],
        ["fails since", time(found.failing_since)], ["failures in a row", found.errors || null],
        ["changes a day, as believed", found.rate === null || found.rate === undefined ? null : score(found.rate)],
      ])),
      card("What happened to it", table("The kept history of this page", [["when", (row) => time(row[0]), "short"], ["what", (row) => row[1], "said"]], history(found, kept.data)),
        h("p", { class: "soft" }, "The latest ten changes of its content, failures, and changes of its state are kept.")),
      card("Twins", table("Pages of its host with the same content", [["page", (row) => pageLink(row[0]), "url"], ["same", (row) => (row[1] ? "bytes" : "text"), "short"]], kept.data.twins ?? [], found.fetched === null ? "Not known: it was not fetched yet." : "No other page of its host has its content."),
        kept.data.more_twins ? h("p", { class: "soft" }, `The first ${count(kept.data.twins.length)}.`) : null),
      card("Scores", facts([
        ["authority", score(found.authority_score)], ["hub", score(found.hub_score)], ["links out, in", `${count(found.out_links)}, ${count(found.in_links)}`],
        ["relevance", found.relevance], ["value", found.value]])),
      card("Who pays it authority", table("Pages that pay it", [["page", (row) => pageLink(row.url), "url"], ["paid", (row) => score(row.cash), "number"], ["share of its score", (row) => percent(row.share), "number"]], paid.authority_payers, "No page has paid it yet.")),
      h("div", { class: "wide" }, linked(`Links to it: ${count(found.in_links)}`, into, "in")),
      h("div", { class: "wide" }, linked(`Its links: ${count(found.out_links)}`, out, "out")));
  };
};
