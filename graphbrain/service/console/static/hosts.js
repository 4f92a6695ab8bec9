// All hosts, sorted and filtered by the service.

import { watch } from "./api.js";
import { h, host, show, table, to } from "./dom.js";
import { count, many, minute, span, time } from "./format.js";

const SHOWN = 100;
const KINDS = [["all", "all"], ["waiting", "with waiting pages"], ["failing", "with failing pages"], ["blocked", "blocked"], ["slowed", "slowed"], ["silent", "only probed"], ["outside", "outside the scope"]];

const ILL = { silent: "it gives no answer", refused: "it refuses (429, 503)", broken: "it answers with 5xx" };
const isOutside = (row) => row.in_scope === false;
const delayed = (row) => (isOutside(row) ? "" : row.delay === null ? "–" : span(row.delay));
const some = (number) => (number ? count(number) : "");
const FAULTS = [["client", "4xx"], ["refused", "429, 503"], ["broken", "5xx"], ["silent", "no answer"], ["other", "other"]];
const faults = (row) => FAULTS.filter(([name]) => row[name]).map(([name, title]) => `${count(row[name])} ${title}`).join("; ");

// name, title, cell, class. Without a cell: hosts can be sorted by it, and another column shows it.
const COLUMNS = [
  ["name", "host", (row) => [host(row.name), isOutside(row) ? h("span", { class: "more" }, "outside the scope") : null], "url"],
  ["pages", "pages", (row) => count(row.pages), "number"],
  ["frontier", "waiting", (row) => some(row.frontier), "number"],
  ["known", "fetched", (row) => some(row.known), "number"],
  ["failing", "failing", (row) => (row.failing ? [count(row.failing), h("span", { class: "more" }, faults(row))] : ""), "number kinds"],
  ...FAULTS.map(([name, title]) => [name, `failing: ${title}`]),
  ["sitemap", "in sitemaps", (row) => some(row.sitemap), "number"],
  ["delay", "delay", delayed, "number"],
  ["pace", "pace", (row) => (row.pace === null || isOutside(row) ? "" : Number(row.pace.toFixed(2))), "number"],
  ["in_flight", "claimed", (row) => some(row.in_flight), "number"],
  ["budget", "budget", (row) => (row.budget ? `${count(row.budget_used)} of ${count(row.budget)}` : ""), "number"],
  ["robots_at", "robots.txt", (row) => (row.robots_at === null ? "" : time(row.robots_at).slice(0, 10)), "short"],
  ["blocked_until", "blocked until", (row) => (row.blocked_until || row.probe_at ? [until(row.blocked_until), h("span", { class: "more" }, blockedBecause(row))] : ""), "why"],
];

/** Why a host is not asked: its own answers, or an operator. */
export function blockedBecause(row) {
  if (row.probe_at) return `${ILL[row.illness] ?? "it fails"}; probed at ${minute(row.probe_at)}`;
  if (row.complaints) return `it answered 429 or 503, ${many(row.complaints, "time")} in a row`;
  return "an operator blocked it, or a Retry-After of its asks for it";
}

export const until = (epoch) => (epoch === null ? "only probed" : epoch > 4e9 ? "until it is unblocked" : minute(epoch));

export const hosts = ({ main, query, signal, stamp }) => {
  const asked = { text: query.text ?? "", which: query.which ?? "all", by: query.by ?? "pages", down: query.down ?? "true", offset: query.offset ?? "0", limit: SHOWN };
  const move = (change) => { location.hash = to("hosts", { ...asked, offset: "0", limit: null, ...change }); };
  const field = h("input", { type: "search", value: asked.text, maxlength: 200 });
  const kind = h("select", {}, KINDS.map(([value, title]) => h("option", { value, selected: value === asked.which }, title)));
  const order = h("select", {}, COLUMNS.map(([name, title]) => h("option", { value: name, selected: name === asked.by }, title)));
  const way = h("select", {}, [["true", "largest first"], ["false", "smallest first"]].map(([value, title]) => h("option", { value, selected: value === asked.down }, title)));
  const form = h("form", { class: "line", submit: (event) => {
    event.preventDefault();
    move({ text: field.value, which: kind.value, by: order.value, down: way.value });
  } }, h("label", {}, h("span", {}, "Name contains"), field), h("label", {}, h("span", {}, "Which"), kind),
    h("label", {}, h("span", {}, "Sorted by"), order), h("label", {}, h("span", {}, "Order"), way), h("button", { class: "do" }, "Show"));
  const body = h("div");
  main.append(h("h1", {}, "Hosts"), form, body);
  return async () => {
    const told = await watch("hosts", asked, signal);
    stamp(told);
    if (!told.fresh && body.hasChildNodes()) return;
    const rows = told.data.rows.map((row) => Object.fromEntries(told.data.columns.map((name, place) => [name, row[place]])));
    const offset = Number(asked.offset);
    const head = (name, title) => {
      const sorted = name === asked.by ? (asked.down === "true" ? " ↓" : " ↑") : "";
      return h("button", { type: "button", click: () => move({ by: name, down: String(name === asked.by ? asked.down !== "true" : name !== "name") }) }, `${title}${sorted}`);
    };
    const turn = (title, to_) => h("button", { type: "button", disabled: to_ < 0 || to_ >= told.data.of, click: () => move({ offset: String(to_) }) }, title);
    show(body, h("p", { class: "soft" }, `${many(told.data.of, "host")}${told.data.of > rows.length ? `, from ${count(offset + 1)} to ${count(offset + rows.length)}` : ""}. Pages were counted at ${time(told.data.counted)}, in ${span(told.data.count_took)}.`),
      table("Hosts", COLUMNS.filter(([, , cell]) => cell).map(([name, title, cell, kind_]) => [head(name, title), cell, kind_]), rows, "No host fits."),
      told.data.of > SHOWN ? h("p", {}, turn("Before", offset - SHOWN), " ", turn("Next", offset + SHOWN)) : null);
  };
};
