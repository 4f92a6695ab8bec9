// The frame: who looks, which view is shown, and when it is shown anew.

import * as api from "./api.js";
import { h, show, to, visible } from "./dom.js";
import { time, span } from "./format.js";
import { act } from "./act.js";
import { activity } from "./activity.js";
import { findings, finding } from "./findings.js";
import { host } from "./host.js";
import { hosts } from "./hosts.js";
import { overview } from "./overview.js";
import { page } from "./page.js";

const EVERY = 5000, SOON = 1000;
const at = (id) => document.getElementById(id);

// name: [what the menu calls it, or null; its view; whether it is for operators]
const VIEWS = {
  overview: ["Overview", overview],
  now: ["Now", activity],
  hosts: ["Hosts", hosts],
  host: [null, host, "hosts"],
  page: ["Page", page],
  findings: ["Findings", findings],
  finding: [null, finding, "findings"],
  act: ["Act", act],
};

let me = null;
let shown = null;

/** Where the address leads: the view, and what it is told. */
function place() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: VIEWS[name] ? name : "overview", query: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/** A one-time token that stands in the address moves into this tab, and out of the address. */
function takeToken() {
  const given = /^#token=([\w-]+)$/.exec(location.hash);
  if (!given) return;
  api.keep(given[1]);
  history.replaceState(null, "", `${location.pathname}#/overview`);
}

export const say = (words) => { at("said").textContent = visible(words); };

function refused(error) {
  if (error.name === "AbortError") return;
  if (error instanceof api.Pending) {
    const part = error.progress === null ? "" : `: ${Math.floor(100 * error.progress)} % is done`;
    say("The crawl is being read.");  // without the progress, which a screen reader would read out each second
    if (shown && !shown.loaded) {
      const words = `The whole crawl is being read for the first time since this service began${part}. This view follows.`;
      const before = at("main").querySelector(".waiting");
      if (before) before.textContent = words;
      else at("main").firstChild.append(h("p", { class: "waiting" }, words));
    }
    setTimeout(() => shown?.load(), SOON);
    return;
  }
  if (!(error instanceof api.Refused)) throw error;
  if (error.status === 401) {
    api.keep("");
    signIn(error.message);
    return;
  }
  if (!shown || shown.loaded) {
    say(error.message);
    return;
  }
  const words = visible(error.message);
  say("");
  // The same words are not shown anew each five seconds: a screen reader would read them out each time.
  if (at("main").querySelector(".error")?.textContent === words) return;
  show(at("main"), h("h1", {}, "Not shown"), h("p", { class: "error", role: "alert" }, words));
}

function menu() {
  const name = place().name, current = VIEWS[name][2] ?? name;
  const links = Object.entries(VIEWS).filter(([view, [title]]) => title && (view !== "act" || me.role === "operator"))
    .map(([view, [title]]) => h("li", {}, h("a", { href: to(view), "aria-current": view === current ? "page" : null }, title)));
  show(at("views"), links);
}

function signOut() {
  api.keep("");
  signIn("");
}

function who() {
  const name = me.name ? `${visible(me.name)}, ${me.role}` : "without a token";
  show(at("who"), name, me.name ? h("button", { type: "button", click: signOut }, "Sign out") : null);
}

/** Ask for a token. */
function signIn(why) {
  shown?.end();
  shown = me = null;
  show(at("views"));
  show(at("who"));
  at("crawl").textContent = at("as-of").textContent = "";
  say("");
  const field = h("input", { type: "password", autocomplete: "off", required: true, id: "token", spellcheck: "false" });
  const form = h("form", { submit: (event) => {
    event.preventDefault();
    api.keep(field.value.trim());
    begin();
  } }, h("label", {}, h("span", {}, "Token"), field), h("button", { class: "do" }, "Sign in"));
  show(at("main"), h("h1", {}, "Sign in"), why ? h("p", { class: "error" }, visible(why)) : null,
    h("p", {}, "The console asks the service with a token of an analyst, who looks, or of an operator, who may act too. It stays in this tab and ends with it. 'graphbrain token make NAME --role analyst' makes one."), form);
  field.focus();
}

/** Show the view of the address. */
async function go(moved) {
  if (!me) return;
  shown?.end();
  const { name, query } = place(), gone = new AbortController();
  const main = h("div");
  show(at("main"), main);
  at("as-of").textContent = "";
  const view = { loaded: false, busy: false, end: () => gone.abort() };
  shown = view;
  menu();
  say("");
  document.title = `${VIEWS[name][0] ?? name} · graphbrain console`;
  const refresh = VIEWS[name][1]({ main, query, me, signal: gone.signal, stamp, say, again: () => go(false) });
  view.load = async () => {
    if (view.busy) return;
    view.busy = true;
    try {
      await refresh();
      if (shown === view) {
        if (!view.loaded) say("");
        view.loaded = true;
        main.querySelector(".waiting")?.remove();
      }
    } catch (error) {
      if (shown === view) refused(error);
    } finally {
      view.busy = false;
    }
  };
  if (moved) at("main").focus();
  await view.load();
}

/** Say of when the snapshot is, and how long its reading took. */
function stamp(told) {
  at("as-of").textContent = `As of ${time(told.as_of)}${told.took ? `; read in ${span(told.took)}` : ""}.`
    + (told.trouble ? ` The last attempt to read it anew failed: ${visible(told.trouble)}` : "");
}

async function begin() {
  try {
    me = await api.get("me");
    if (me.role === "crawler") {
      api.keep("");
      signIn("A crawler's token cannot look; the console is for analysts and operators.");
      return;
    }
    at("crawl").textContent = visible((await api.get("settings")).settings.crawl);
    who();
    await go(false);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    signIn(error.status === 401 && !api.token() ? "" : error.message);
  }
}

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) {
    takeToken();
    begin();
  } else {
    go(true);
  }
});
at("skip").addEventListener("click", (event) => {
  event.preventDefault();
  at("main").focus();
});
setInterval(() => { if (document.visibilityState === "visible" && shown) shown.load(); }, EVERY);
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible" && shown) shown.load(); });
takeToken();
begin();
