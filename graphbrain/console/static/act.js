// What an operator may do. Each says what will happen, and asks; nothing is sent before.

import { get, post } from "./api.js";
import { card, h, visible } from "./dom.js";
import { count, many } from "./format.js";

const list = (text) => text.split(/\s+/).filter(Boolean);
const optional = (text) => (text.trim() === "" ? null : Number(text));

// title, fields [name, label, type, more], what will happen, what is sent [path, body], and what is said of the answer.
const OF_HOST = [
  { title: "Block a host", fields: [["host", "Host", "text"], ["hours", "For how many hours (empty: until it is unblocked)", "number"]],
    will: ({ host, hours }) => `No page of ${host} is handed out ${hours.trim() === "" ? "until it is unblocked" : `for ${hours} hours`}. Claims that are out stay.`,
    send: ({ host, hours }) => ["block", { host, seconds: hours.trim() === "" ? null : Number(hours) * 3600 }], said: ({ host }) => `${host} is left alone.` },
  { title: "Unblock a host", fields: [["host", "Host", "text"]],
    will: ({ host }) => `${host} is asked again, at its full rate, even if it complained or did not answer.`,
    send: ({ host }) => ["unblock", { host }], said: ({ host }) => `${host} is asked again.` },
  { title: "Delay of a host", fields: [["host", "Host", "text"], ["delay", "Seconds between two claims (empty: the brain's setting)", "number"]],
    will: ({ host, delay }) => (delay.trim() === "" ? `${host} gets the delay of the settings again.` : `Claims of ${host} are ${delay} s apart at least. A longer delay of its robots.txt still holds.`),
    send: ({ host, delay }) => ["set_host", { host, delay: optional(delay) }], said: ({ host }) => `The delay of ${host} is set.` },
  { title: "Budget of a host", fields: [["host", "Host", "text"], ["budget", "Pages fetched for the first time, at most (0: no limit; empty: the brain's setting)", "number"]],
    will: ({ host, budget }) => (budget.trim() === "" ? `${host} gets the budget of the settings again.` : `${budget === "0" ? "All" : `At most ${budget}`} pages of ${host} are fetched for the first time.`),
    send: ({ host, budget }) => ["set_host", { host, budget: optional(budget) }], said: ({ host }) => `The budget of ${host} is set.` },
];
const OF_PAGE = [
  { title: "Crawl now", fields: [["urls", "URLs, one a line", "area"]],
    will: ({ urls }) => `${many(list(urls).length, "page")} will be handed out before all others, as soon as politeness lets their hosts be asked.`,
    send: ({ urls }) => ["crawl_now", { urls: list(urls) }], said: (_, told) => `${count(told.will.filter(Boolean).length)} of ${many(told.will.length, "page")} will be fetched.` },
  { title: "Retry", fields: [["urls", "URLs, one a line", "area"]],
    will: ({ urls }) => `${many(list(urls).length, "page")} that failed, redirect or were given up wait again at once. Others stay as they are.`,
    send: ({ urls }) => ["retry", { urls: list(urls) }], said: (_, told) => `${many(told.done, "page")} wait again.` },
  { title: "Park", fields: [["urls", "URLs, one a line", "area"]],
    will: ({ urls }) => `${many(list(urls).length, "page")} will be fetched no more until 'retry', 'crawl now' or a seed names them. A page that a crawler holds is not parked.`,
    send: ({ urls }) => ["park", { urls: list(urls) }], said: (_, told) => `${count(told.parked.filter(Boolean).length)} of ${many(told.parked.length, "page")} are parked now.` },
  { title: "Forget", fields: [["url", "URL or key", "text"], ["for_ever", "Refuse it when it is met again", "check"]],
    will: ({ url, for_ever }) => `${url}, its links and its account are deleted. This cannot be undone.${for_ever ? " It is refused when it is met again." : " It comes back when a page links to it."}`,
    send: ({ url, for_ever }) => ["forget", { url, for_ever }], said: ({ url }, told) => (told.done === null ? `${url} was not there.` : `${url} is deleted, with ${many(told.done, "link")}.`) },
];
const OF_CRAWL = [
  { title: "Pause", fields: [], will: () => "No page is handed out to anybody until 'resume'. Reports are taken.", send: () => ["pause", {}], said: (_, told) => (told.done ? "The crawl pauses." : "It paused already.") },
  { title: "Resume", fields: [], will: () => "Pages are handed out again.", send: () => ["resume", {}], said: (_, told) => (told.done ? "Pages are handed out again." : "It did not pause.") },
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

function field([name, label, kind], given) {
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

/** Change a setting of the brain. */
function setting(settings) {
  const parse = (text, like) => (typeof like === "boolean" ? ["true", "yes"].includes(text.trim().toLowerCase()) : typeof like === "number" ? Number(text) : text);
  const known = (name) => {
    if (!(name in settings)) throw new Error(`There is no setting ${name}.`);
    return settings[name];
  };
  return { title: "Change a setting", fields: [["name", "Setting", "text"], ["value", "New value", "text"]],
    will: ({ name, value }) => `${name} changes from ${known(name)} to ${parse(value, known(name))}, for all who use the brain; what follows from it for every page is written, which can take minutes. A setting that may not change is refused.`,
    run: async ({ name, value }) => ended(await post("change", { settings: { [name]: parse(value, known(name)) } })),
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
    const { settings } = await get("settings", {}, signal);
    done = true;
    const part = (title, actions) => h("section", {}, h("h2", {}, title), h("div", { class: "cards" }, actions.map((each) => action(each, query))));
    main.append(h("h1", {}, "Act"), h("p", { class: "soft" }, "Each says what will happen and asks before it is done."));
    if (!query.url) main.append(part("On a host", OF_HOST));
    if (!query.host) main.append(part("On pages", OF_PAGE));
    if (!query.host && !query.url) main.append(part("On the crawl", [...OF_CRAWL, setting(settings)]));
  };
};
