// Elements from plain values. What the web says only ever becomes text: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** A text in which what cannot be seen, or turns the direction of reading, shows as its number. */
export const visible = (text) =>
  String(text).replace(UNSEEN, (sign) => `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== ""));
  return element;
}

/** An HTML element; a function among the attributes listens to the event of its name. Texts become text nodes. */
export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Show these in place of what an element has, and leave the focus on what was focused, where that is still there. */
export function show(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  element.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
  if (focused !== null) [...element.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
}

/** The address of a view of the console. */
export const to = (view, query = {}) => {
  const said = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== null));
  return `#/${view}${said.size ? `?${said}` : ""}`;
};

/** A page's URL, which leads to its view. */
export const page = (url) => h("a", { href: to("page", { url }), class: "url" }, visible(url));

/** A host's name, which leads to its view. */
export const host = (name) => h("a", { href: to("host", { name }), class: "url" }, visible(name));

/** A table. `columns`: [title, how a row's cell is made, class]; classes: number, url. It scrolls by itself. */
export function table(caption, columns, rows, empty = "Nothing.") {
  if (!rows.length) return h("p", { class: "soft" }, empty);
  const head = h("tr", {}, columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title)));
  const body = rows.map((row) =>
    h("tr", {}, columns.map(([title, cell, kind]) => h("td", { class: kind, "data-title": textOf(title) }, cell(row)))),
  );
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body)));
}

/** The text of a title, without the arrow of a sorted column. */
const textOf = (title) => (typeof title === "string" ? title : title.textContent.replace(/ [↓↑]$/, ""));

/** Pairs of a name and a value, those without a value left out. */
export const facts = (pairs) =>
  h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

/** Figures, large. */
export const figures = (pairs) =>
  h("dl", { class: "figures" }, pairs.map(([name, value, more]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value, more ? h("span", { class: "more" }, more) : null))));

/** A part of a view, under its heading. */
export const card = (title, ...children) => h("section", { class: "card" }, h("h2", {}, title), children);
