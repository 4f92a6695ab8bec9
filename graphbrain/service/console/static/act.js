// What an operator may do. Each says what will happen, and asks; nothing is sent before.

import { get, post } from "./api.js";
import { card, h, visible } from "./dom.js";
import { count, many } from "./format.js";

const list = (text) => text.split(/\s+/).filter(Boolean);
const optional = (text) => (text.trim() === "" ? null : Number(text));

// title, fields [name, label, type, more], what will happen, what is sent [path, body], and what is said of the answer.
const OF_HOST = [
  { title: "Block a host", fields: [["host", "Host", "text"], ["hours", "For how many hours (empty: until it is unblocked)", "number"]],
    will: ({ host, hours }) => `No page of ${host} can be claimed ${hours.trim() === "" ? "until it is unblocked" : `for ${hours} hours`}. Pages that are claimed already may still be fetched.`,
    send: ({ host, hours }) => ["block", { host, seconds: hours.trim() === "" ? null : Number(hours) * 3600 }], said: ({ host }) => `${host} is blocked.` },
  { title: "Unblock a host", fields: [["host", "Host", "text"]],
    will: ({ host }) => `Pages of ${host} can be claimed again, at its full rate, even if it answered 429 or not at all.`,
    send: ({ host }) => ["unblock", { host }], said: ({ host }) => `${host} is not blocked.` },
  { title: "Delay of a host", fields: [["host", "Host", "text"], ["delay", "Seconds between two claims (empty: the brain's setting)", "number"]],
    will: ({ host, delay }) => (delay.trim() === "" ? `${host} gets the delay of the settings again.` : `Claims of ${host} are ${delay} s apart at least. A longer delay of its robots.txt still holds.`),
    send: ({ host, delay }) => ["set_host", { host, delay: optional(delay) }], said: ({ host }) => `The delay of ${host} is set.` },
  { title: "Budget of a host", fields: [["host", "Host", "text"], ["budget", "Pages fetched for the first time, at most (0: no limit; empty: the brain's setting)", "number"]],
    will: ({ host, budget }) => (budget.trim() === "" ? `${host} gets the budget of the settings again.` : `${budget === "0" ? "All" : `At most ${budget}`} pages of ${host} are fetched for the first time.`),
    send: ({ host, budget }) => ["set_host", { host, budget: optional(budget) }], said: ({ host }) => `The budget of ${host} is set.` },
];
const OF_PAGE = [
  { title: "Crawl now", fields: [["urls", "URLs, one a line", "area"]],
    will: ({ urls }) => `${many(list(urls).length, "page")} will be fetched before all others, as soon as politeness allows a request to their hosts.`,
    send: ({ urls }) => ["crawl_now", { urls: list(urls) }], said: (_, told) => `Will be fetched: ${count(told.will.filter(Boolean).length)} of ${count(told.will.length)}.` },
  { title: "Retry", fields: [["urls", "URLs, one a line", "area"]],
    will: ({ urls }) => `${many(list(urls).length, "page")} that failed, redirect or were given up wait again at once. Others stay as they are.`,
    send: ({ urls }) => ["retry", { urls: list(urls) }], said: (_, told) => `Wait again: ${count(told.done)}.` },
  { title: "Park", fields: [["urls", "URLs, one a line", "area"]],
    will: ({ urls }) => `${many(list(urls).length, "page")} will not be fetched until 'retry', 'crawl now' or a seed names them. A page that is claimed now is not parked.`,
    send: ({ urls }) => ["park", { urls: list(urls) }], said: (_, told) => `Parked now: ${count(told.parked.filter(Boolean).length)} of ${count(told.parked.length)}.` },
  { title: "Forget", fields: [["url", "URL or key", "text"], ["for_ever", "Refuse it when it is met again", "check"]],
    will: ({ url, for_ever }) => `${url}, its links and its account are deleted. This cannot be undone.${for_ever ? " It is refused when it is met again." : " It comes back when a page that links to it is fetched."}`,
    send: ({ url, for_ever }) => ["forget", { url, for_ever }], said: ({ url }, told) => (told.done === null ? `${url} was not there.` : `${url} is deleted, with ${many(told.done, "link")}.`) },
];
const OF_CRAWL = [
  { title: "Pause", fields: [], will: () => "No page can be claimed until 'resume'. Reports are accepted.", send: () => ["pause", {}], said: (_, told) => (told.done ? "The crawl is paused." : "It was paused before.") },
  { title: "Resume", fields: [], will: () => "Pages can be claimed again.", send: () => ["resume", {}], said: (_, told) => (told.done ? "The crawl goes on." : "It was not paused.") },
];

/** Ask whether this is to be done. */
function ask(title, words) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "ask-title" }, h("h2", { id: "ask-title" }, title), h("p", { class: "said" }, visible(words)),
      h("p", {}, h("button", { type: "button", class: "do", click: () => dialog.close("yes") }, title), " ", h("button", { type: "button", autofocus: true, click: () => dialog.close("") }, "Cancel")));
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function field([name, label, kind, choices], given) {
  if (kind === "choice") return h("label", {}, h("span", {}, label), h("select", { name }, choices.map(([value, title]) => h("option", { value }, visible(title)))));
  if (kind === "area") return h("label", {}, h("span", {}, label), h("textarea", { name, rows: 3, required: true }, given ?? ""));
  if (kind === "check") return h("label", {}, h("input", { type: "checkbox", name }), ` ${label}`);
  const attributes = kind === "number" ? { type: "number", min: 0, step: "any" } : { type: "text", required: true };
  return h("label", {}, h("span", {}, label), h("input", { name, ...attributes, value: kind === "text" ? (given ?? "") : null, autocomplete: "off" }));
}

/** An action: its fields, a button, and what came of it. */
function action(each, given) {
  const said = h("p", { role: "status", class: "said" });
  const button = h("button", {}, `${each.title}…`);
  const form = h("form", { submit: async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(each.fields.map(([name, , kind]) => [name, kind === "check" ? form.elements[name].checked : form.elements[name].value]));
    button.disabled = true;
    try {
      if (await ask(each.title, each.will(values))) {
        const told = await (each.run ?? (() => post(...each.send(values))))(values);
        said.textContent = visible(each.said(values, told));
        each.after?.(form, values);
      } else {
        said.textContent = "Nothing was done.";
      }
    } catch (error) {
      said.textContent = visible(`Not done: ${error.message}`);
    } finally {
      button.disabled = false;
      button.focus();
    }
  } }, each.fields.map((one) => field(one, given[one[0]] ?? (one[0] === "urls" ? given.url : undefined))), h("p", {}, button), said);
  return card(each.title, form);
}

/** Wait for the end of a job. */
async function ended(job) {
  let told = job;
  while (told.state === "running") told = await get(`jobs/${told.id}`, { wait: 5 });
  if (told.state !== "done") throw new Error(told.error?.message ?? "It was stopped.");
  return told;
}

/** A text as a value of the kind that a setting has. */
function valued(name, text, before) {
  const word = text.trim();
  if (typeof before === "boolean") {
    if (!["true", "yes", "false", "no"].includes(word.toLowerCase())) throw new Error(`${name} is true or false, not ${word}.`);
    return ["true", "yes"].includes(word.toLowerCase());
  }
  if (typeof before !== "number") return text;
  if (word === "" || !Number.isFinite(Number(word))) throw new Error(`${name} is a number, not ${word}.`);
  return Number(word);
}

/** Change a setting of the brain. */
function setting({ settings, fixed }) {
  const names = Object.keys(settings).filter((name) => !fixed.includes(name)).sort(), label = (name) => `${name} (${settings[name]})`;
  return { title: "Change a setting", fields: [["name", "Setting", "choice", names.map((name) => [name, label(name)])], ["value", "New value", "text"]],
    will: ({ name, value }) => `${name} changes from ${settings[name]} to ${valued(name, value, settings[name])}, for all who use the brain. What follows from it for every page is written, which can take minutes.`,
    run: async ({ name, value }) => {
      const wanted = valued(name, value, settings[name]), told = await ended(await post("change", { settings: { [name]: wanted } }));
      settings[name] = wanted;
      return told;
    },
    after: (form, { name }) => { form.elements.name.selectedOptions[0].textContent = visible(label(name)); },
    said: ({ name, value }) => `${name} is ${value} now.` };
}

export const act = ({ main, query, me, signal }) => {
  let done = false;
  return async () => {
    if (done) return;
    if (me.role !== "operator") {
      main.append(h("h1", {}, "Act"), h("p", {}, "Only an operator's token may act."));
      done = true;
      return;
    }
    const settings = await get("settings", {}, signal);
    done = true;
    const part = (title, actions) => h("section", {}, h("h2", {}, title), h("div", { class: "cards" }, actions.map((each) => action(each, query))));
    main.append(h("h1", {}, "Act"), h("p", { class: "soft" }, "Each says what will happen and asks before it is done."));
    if (!query.url) main.append(part("On a host", OF_HOST));
    if (!query.host) main.append(part("On pages", OF_PAGE));
    if (!query.host && !query.url) main.append(part("On the crawl", [...OF_CRAWL, setting(settings)]));
  };
};
