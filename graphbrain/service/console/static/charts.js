// Charts in SVG, each with its numbers in a table behind it. Series differ in pattern as well as in colour.

import { h, s, table } from "./dom.js";
import { count, short } from "./format.js";

const WIDE = 640, HIGH = 190, LEFT = 44, RIGHT = 8, TOP = 10, LOW = 26;

const round = (most) => {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= most);
};

/** A label below its column; the last one ends with the chart. On a phone there is room for every third long one. */
function below(label, x, before, every) {
  const minor = label.length > 6 && (before / every) % 3 ? " minor" : "";
  const last = before === 0 && x > WIDE - 60;
  return s("text", { class: `${last ? "end" : "middle"}${minor}`, x: last ? WIDE : x, y: HIGH - 8 }, label);
}

/** Columns over time. `rows`: [label, value, part of it that is an error]; `every`: each how manieth label is shown. */
export function columns(name, title, rows, { unit, parts }) {
  if (!rows.length) return h("p", { class: "soft" }, "Nothing yet.");
  const most = round(Math.max(...rows.map((row) => row[1]), 1));
  const step = (WIDE - LEFT - RIGHT) / rows.length, wide = Math.max(1, Math.min(28, step - 1.5));
  const tall = HIGH - TOP - LOW, every = Math.ceil(rows.length / 8);
  const y = (value) => TOP + tall * (1 - value / most);
  const grid = [0, 0.5, 1].map((part) => [
    s("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y(part * most), y2: y(part * most) }),
    s("text", { class: "end", x: LEFT - 6, y: y(part * most) + 4 }, short(part * most)),
  ]);
  const bars = rows.map(([label, value, wrong], place) => {
    const x = LEFT + place * step + (step - wide) / 2;
    return [
      s("rect", { class: "bar", x, y: y(value), width: wide, height: TOP + tall - y(value) }, s("title", {}, `${label}: ${count(value)}`)),
      wrong ? s("rect", { class: "wrong", x, y: y(wrong), width: wide, height: TOP + tall - y(wrong), fill: `url(#${name}-hatch)` }) : null,
      (rows.length - 1 - place) % every === 0 ? below(label, x + wide / 2, rows.length - 1 - place, every) : null,
    ];
  });
  const hatch = s("defs", {}, s("pattern", { id: `${name}-hatch`, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 5, height: 5, class: "hatch-ground" }), s("line", { x1: 0, y1: 0, x2: 0, y2: 5, class: "hatch" })));
  const svg = s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-labelledby": `${name}-title` },
    s("title", { id: `${name}-title` }, title), hatch, grid, bars);
  const key = parts ? h("p", { class: "key" }, h("span", { class: "bar-key" }), ` ${unit} `, h("span", { class: "wrong-key" }), ` ${parts}`) : null;
  const shown = [["when (UTC)", (row) => row[0], ""], [unit, (row) => count(row[1]), "number"]];
  if (parts) shown.push([parts, (row) => count(row[2]), "number"]);
  return h("figure", {}, svg, key, h("details", { "data-keep": name }, h("summary", {}, "Numbers"), table(title, shown, [...rows].reverse())));
}
