// What is wrong, by what it wastes; and the rows of one finding.

import { get, text, watch } from "./api.js";
import { h, page, show, table, to, visible } from "./dom.js";
import { count, many, percent } from "./format.js";

const LOOK = "graphbrain-findings";
const SHOWN = 200;

/** The counts of the last look at another snapshot, which stay in this browser. */
function before(crawl, asOf, found) {
  const kept = JSON.parse(localStorage.getItem(LOOK) ?? "{}");
  const own = kept[crawl] ?? { before: null, last: null };
  if (own.last === null || own.last.asOf !== asOf) {
    own.before = own.last;
    own.last = { asOf, counts: Object.fromEntries(found.map((each) => [each.title, each.count])) };
    localStorage.setItem(LOOK, JSON.stringify({ ...kept, [crawl]: own }));
  }
  return own.before;
}

export const findings = ({ main, signal, stamp, say }) => {
  let fresh = false;
  const again = h("button", { type: "button" }, "Look again now");
  const body = h("div");
  main.append(h("h1", {}, "Findings"),
    h("p", { class: "soft" }, "What is wrong with pages, links and hosts, and the share of all authority inside the scope that it wastes: of pages what they hold, of links what is paid along them, of hosts what their pages hold. A page may have several faults."),
    h("p", {}, again), body);
  const load = async () => {
    const asked = fresh;
    fresh = false;
    const told = await watch("findings", asked ? { fresh: true } : {}, signal);
    stamp(told);
    if (!told.fresh && body.hasChildNodes()) return told;
    const found = told.data.findings, crawl = document.getElementById("crawl").textContent;
    const earlier = before(crawl, told.as_of, found);
    const most = Math.max(...found.map((each) => each.share ?? 0), 1e-12), priced = found.every((each) => each.share !== null);
    const change = (each) => {
      if (!earlier) return "";
      const more = each.count - (earlier.counts[each.title] ?? 0);
      return more > 0 ? h("span", { class: "new" }, `${count(more)} more`) : more < 0 ? `${count(-more)} fewer` : "";
    };
    const gone = Object.entries(earlier?.counts ?? {}).filter(([title]) => !found.some((each) => each.title === title));
    show(body, table("Findings", [
      ["finding", (row) => h("a", { href: to("finding", { title: row.title, question: row.question, ...row.given }) }, row.title), "url"],
      ...(priced ? [["wasted", (row) => percent(row.share), "number"],
        ["of the worst", (row) => h("meter", { min: 0, max: most, value: row.share, "aria-label": percent(row.share) })]] : []),
      ["how many", (row) => many(row.count, row.what), "number"],
      ...(earlier ? [["since you last looked", change, "short"]] : [])], found, "Nothing is wrong that a question knows."),
      priced ? null : h("p", { class: "soft" }, "The classic engine does not record payments, so it is not known what these waste."),
      gone.length ? h("p", { class: "soft" }, `No longer found since you last looked: ${gone.map(([title, before]) => `${title} (${count(before)})`).join("; ")}.`) : null);
    return told;
  };
  again.addEventListener("click", async () => {
    fresh = true;
    again.disabled = true;
    say("Reading every page…");
    try {
      while ((await load()).making) await new Promise((done) => setTimeout(done, 1000));
      say("");
    } catch (error) {
      say(error.message);
    } finally {
      again.disabled = false;
    }
  });
  return load;
};

const isUrl = (value) => typeof value === "string" && /^https?:\/\//.test(value);
/** 2 for a URL, 1 for a list of them, else 0. */
const urls = (value) => (isUrl(value) ? 2 : Number(Array.isArray(value) && value.some(isUrl)));
const shown = (value) => {
  // In one element: the parts of a cell are beside each other on a phone.
  if (Array.isArray(value)) return value.length ? h("div", {}, value.map((each) => h("div", {}, shown(each)))) : null;
  if (isUrl(value)) return page(value);
  if (value === null) return "–";
  return typeof value === "number" ? (Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(4)))) : visible(value);
};

/** The class of a column with these values. Only what is long needs a wide column. */
function kindOf(values) {
  const known = values.filter((value) => value !== null);
  if (typeof known[0] === "number") return "number";
  if (known.some((value) => isUrl(value) || Array.isArray(value))) return "url";
  return known.some((value) => String(value).length > 24) ? "said" : "short";
}

/** A text in which names are between backticks. */
const named = (text) => text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));

export const finding = ({ main, query, signal, stamp, say }) => {
  const { title, question, ...given } = query;
  const body = h("div"), get_ = h("button", { type: "button", click: download, disabled: true }, "CSV of all rows");
  main.append(h("h1", {}, visible(title ?? question ?? "")), h("p", {}, h("a", { href: to("findings") }, "All findings")), h("p", {}, get_), body);
  async function download() {
    get_.disabled = true;
    say("Reading…");
    try {
      const rows = await text(`ask/${encodeURIComponent(question)}`, { ...given, ...whole, format: "csv" });
      const href = URL.createObjectURL(new Blob([rows], { type: "text/csv" }));
      h("a", { href, download: `${question}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60000);
      say(`${question}.csv is downloaded.`);
    } catch (error) {
      say(error.message);
    } finally {
      get_.disabled = false;
    }
  }
  let limit = {}, whole = {}, done = false;
  return async () => {
    if (done) return;
    const known = (await get("questions", {}, signal)).questions.find((each) => each.name === question);
    limit = known && "limit" in known.params ? { limit: SHOWN } : {};
    whole = Object.fromEntries(["limit", "each"].filter((name) => known && name in known.params && !(name in given)).map((name) => [name, "all"]));
    const began = Date.now(), found = await get(`ask/${encodeURIComponent(question)}`, { ...given, ...limit }, signal);
    done = true;
    stamp({ as_of: began / 1000, took: (Date.now() - began) / 1000 });
    // Only now: a token may ask one heavy question at a time, so a download beside the view's own question is refused.
    get_.disabled = false;
    const first = found.rows[0] ?? [];
    // The page comes first, or the pages of a group, on a phone above all else.
    const places = found.columns.map((name, place) => [name, place]).sort((one, other) => urls(first[other[1]]) - urls(first[one[1]]));
    show(body, known ? h("p", { class: "soft" }, named(known.reading)) : null, found.note ? h("p", { class: "error" }, visible(found.note)) : null,
      table(title ?? question, places.map(([name, place]) => [name, (row) => shown(row[place]), kindOf(found.rows.map((row) => row[place]))]), found.rows),
      found.cut ? h("p", { class: "soft" }, `The first ${SHOWN} rows; the CSV has all.`) : null);
  };
};
