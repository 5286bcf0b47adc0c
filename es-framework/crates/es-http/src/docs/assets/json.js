// Shows JSON as coloured text, and lists of rows as tables.

import { element } from "./dom.js";

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function coloured(text) {
  const code = element("code");
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    code.append(text.slice(end, match.index));
    const [all, quoted, colon, word] = match;
    const kind = quoted ? (colon ? "name" : "text") : word ? "word" : "number";
    code.append(element("span", { class: `json-${kind}` }, quoted ?? all), colon ?? "");
    end = match.index + all.length;
  }
  code.append(text.slice(end));
  return element("pre", { tabindex: 0 }, code);
}

function isFlat(row) {
  return row !== null && typeof row === "object" && !Array.isArray(row);
}

// Returns the rows of a list or of a page; undefined for other values.
export function rowsOf(value) {
  const rows = Array.isArray(value) ? value : value?.items;
  return Array.isArray(rows) && rows.length > 0 && rows.every(isFlat) ? rows : undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function kindOf(value) {
  return typeof value === "number" ? "number" : UUID.test(value) ? "id" : "";
}

function cell(value) {
  if (value === null || value === undefined) {
    return element("td", { class: "muted" }, "–");
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return element("td", { class: kindOf(value), title: text }, text);
}

export function table(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const heading = columns.map((name) => element("th", { scope: "col" }, name));
  const lines = rows.map((row) => element("tr", {}, ...columns.map((name) => cell(row[name]))));
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rows" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heading)), element("tbody", {}, ...lines)),
  );
}
