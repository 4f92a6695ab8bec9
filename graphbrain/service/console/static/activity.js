// What is done now.

import { watch } from "./api.js";
import { card, h, page, show, table, visible } from "./dom.js";
import { count, score, span, time } from "./format.js";

export const activity = ({ main, signal, stamp }) => {
  const body = h("div");
  main.append(h("h1", {}, "Now"), body);
  return async () => {
    const told = await watch("activity", {}, signal);
    stamp(told);
    if (!told.fresh && body.hasChildNodes()) return;
    const { now, held, failed, next } = told.data;
    show(body, h("div", { class: "cards" },
      h("div", { class: "wide" }, card(`Being fetched: ${held.length}${held.length === 100 ? " or more" : ""}`, table("Pages that are held", [
        ["page", (row) => page(row.url), "url"], ["worker", (row) => visible(row.worker ?? "–"), "said"],
        ["for", (row) => (row.since === null ? "–" : span(now - row.since)), "number"],
        ["lease ends in", (row) => span(row.until - now), "number"]], held, "No worker holds a page."))),
      h("div", { class: "wide" }, card("The last failures", table("The last pages that failed", [
        ["page", (row) => page(row.url), "url"], ["when", (row) => time(row.failed), "short"], ["status", (row) => row.status ?? "–", "number"],
        ["fault", (row) => row.fault ?? "–"], ["error", (row) => visible(row.error ?? ""), "said"]], failed, "No page failed within a day."))),
      h("div", { class: "wide" }, card("What comes next", table("The next pages", [
        ["page", (row) => page(row.url), "url"], ["authority", (row) => score(row.authority), "number"],
        ["lane", (row) => count(row.lane), "number"], ["waits since", (row) => time(row.waiting_since), "short"],
        ["why not now", (row) => (row.host_may === null ? "at the next claim" : `its host may be asked at ${time(row.host_may)}`), "said"]], next, "No page waits."),
        h("p", { class: "soft" }, "A smaller lane goes first; within a lane, what has waited longest. A page's own view says why it waits.")))));
  };
};
