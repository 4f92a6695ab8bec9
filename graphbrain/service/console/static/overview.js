// How the crawl goes.

import { watch } from "./api.js";
import { columns } from "./charts.js";
import { card, figures, h, show, table, visible } from "./dom.js";
import { bytes, clock, count, many, percent, short, span, time } from "./format.js";

/** When the frontier ends at this pace, in words. */
function left(frontier) {
  if (frontier.end === "ends") return span(frontier.hours * 3600);
  return { never: "it grows", done: "none waits" }[frontier.end] ?? "not known yet";
}

/** Whether the scores are right, and how far they are off at most; the bound is known of the exact engine. */
function settled(bound) {
  if (bound === null || bound === undefined) return ["–", "their error is not known"];
  return [bound > 0.02 ? "moving" : "settled", `at most ${percent(bound)} off in sum${bound > 0.02 ? "; graphbrain tend finishes them" : ""}`];
}

export const overview = ({ main, signal, stamp }) => {
  const paused = h("div"), numbers = h("div"), rates = h("div", { class: "cards" });
  main.append(h("h1", {}, "Overview"), paused, numbers, rates);
  return async () => {
    const told = await watch("overview", {}, signal);
    stamp(told);
    if (!told.fresh && numbers.hasChildNodes()) return;
    const { stats, scanned, minutes, hours, workers, lapsed, active, disk } = told.data;
    const pace = stats.pace, states = Object.entries(scanned?.states ?? {}).sort((one, other) => other[1] - one[1]);
    const total = states.reduce((sum, [, pages]) => sum + pages, 0);
    const counted = scanned ? `Counted at ${time(scanned.as_of)}, in ${span(scanned.took)}: every page was read for it.` : "All pages are being read to count them.";
    const of = (make) => (scanned ? make() : null);
    show(paused, stats.paused ? h("p", { class: "error" }, `Paused since ${time(stats.paused)}: no page can be claimed.`) : null);
    show(numbers, figures([
      ["pages", scanned ? count(total - scanned.outside) : "–", of(() => `${count(scanned.outside)} more outside the scope`)],
      ["hosts", count(scanned?.hosts), of(() => `${count(scanned.blocked)} blocked, ${count(scanned.silent)} silent, ${count(scanned.slowed)} slowed`)],
      ["wait for a first visit", count(scanned?.first_visits), of(() => `${count(scanned.waiting)} wait in all, also to be visited again`)],
      ["failed", count(scanned?.retries), of(() => "to be tried again")],
      ["fresh", percent(scanned?.fresh), scanned?.age === null || !scanned ? null : `copies are ${span(scanned.age)} old`],
      ["scores", ...settled(scanned?.error_bound)],
    ]), h("p", { class: "soft" }, counted), figures([
      ["visits", count(stats.done.pages), "in all, failed ones too"],
      ["links", count(stats.links), "on all pages"],
      ["being fetched", count(stats.leased), lapsed ? `${count(lapsed)} are overdue` : null],
      ["visits an hour", short(pace.visits_an_hour), pace.so_far ? (pace.seconds ? `in the last ${span(pace.seconds)}` : "none was counted yet") : "in the last full hour"],
      ["pages found an hour", short(pace.found_an_hour), `${short(pace.left_an_hour)} leave the frontier`],
      ["time left", stats.frontier ? left(stats.frontier) : "–", stats.frontier ? visible(stats.frontier.because) : "pages are being counted"],
      ["errors a minute", minutes.length < 2 ? "–" : count(minutes.at(-2)[2]), minutes.length < 2 ? "counted since this service began" : `of ${many(minutes.at(-2)[1], "page")}, in the last full minute`],
      ["processes at work", count(active), "in the last minute"],
      ["disk", disk === null ? "–" : bytes(disk.used), disk === null ? "Neo4j runs elsewhere" : `${bytes(disk.free)} free`],
    ]));
    const open = new Set([...rates.querySelectorAll("details[open]")].map((each) => each.dataset.keep));
    show(rates,
      card("Pages a minute, last hour", columns("minutes", "Pages reported by the minute", minutes.map(([at, pages, wrong]) => [clock(at), pages, wrong]), { unit: "pages", parts: "of them without a page" }),
        h("p", { class: "soft" }, "Counted since this service began; the last minute is not over. Workers count every few seconds.")),
      card("Pages an hour, last days", columns("hours", "Pages reported by the hour", hours.map(([at, pages]) => [time(at).slice(5, 13) + " h", pages]), { unit: "pages" }),
        h("p", { class: "soft" }, "Hours in which nothing was done are missing.")),
      card("Pages by state", table("Pages by state", [["state", (row) => row[0]], ["pages", (row) => count(row[1]), "number"], ["share", (row) => percent(row[1] / Math.max(1, total)), "number"]], states, "Not counted yet.")),
      card("Who holds pages", table("Workers that hold pages", [["worker", (row) => visible(row[0] ?? "–"), "url"], ["pages", (row) => count(row[1]), "number"], ["first lease ends", (row) => time(row[2]), "short"]], workers, "No worker holds a page.")));
    for (const each of rates.querySelectorAll("details")) each.open = open.has(each.dataset.keep);
  };
};
