// The answer of the service: a headline, then all of it.

import { resolve } from "./description.js";
import { element } from "./dom.js";
import { coloured, rowsOf, table } from "./json.js";

function isProblem(answer) {
  return answer.type.includes("problem+json");
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Returns the description of this status from the OpenAPI document, for an answer without a title.
function meaning(operation, status) {
  return resolve(operation.responses?.[status]).description ?? "";
}

function headline(answer, operation, problem) {
  const kind = answer.status < 300 ? "good" : answer.status < 400 ? "same" : "bad";
  const sentence = problem?.title ?? meaning(operation, answer.status);
  return element(
    "div",
    { class: `headline ${kind}` },
    element("span", { class: "status" }, String(answer.status)),
    element("strong", {}, sentence || answer.reason),
    element("span", { class: "muted" }, `${Math.max(1, Math.round(answer.time))} ms`),
  );
}

function told(problem) {
  const errors = (problem.errors ?? []).map(({ pointer, message }) =>
    element("li", {}, element("code", {}, pointer || "/"), ` ${message}`),
  );
  const isRepeated = problem.errors?.length === 1;
  return element(
    "div",
    { class: "problem" },
    isRepeated ? undefined : element("p", {}, problem.detail ?? ""),
    errors.length ? element("ul", {}, ...errors) : undefined,
    element("p", { class: "muted" }, element("code", {}, problem.type ?? "")),
  );
}

function folded(summary, isOpen, ...children) {
  return element("details", { open: isOpen }, element("summary", {}, summary), ...children);
}

function headers(answer) {
  const lines = [...answer.headers].flatMap(([name, value]) => [
    element("dt", {}, name),
    element("dd", {}, value),
  ]);
  return element("dl", {}, ...lines);
}

export function show(answer, operation) {
  const json = parse(answer.text);
  const problem = isProblem(answer) ? json : undefined;
  const rows = problem ? undefined : rowsOf(json);
  const isEmptyList = Array.isArray(json?.items ?? json) && !rows;
  const pretty = json === undefined ? answer.text : JSON.stringify(json, null, 2);
  return element(
    "div",
    { class: "answer" },
    headline(answer, operation, problem),
    problem ? told(problem) : undefined,
    rows ? table(rows) : undefined,
    isEmptyList ? element("p", { class: "muted" }, "There are no rows.") : undefined,
    pretty ? folded("Body", !rows && !problem, coloured(pretty)) : undefined,
    folded("Headers", !pretty, headers(answer)),
  );
}

// Shows why no answer arrived.
export function showFailure(error) {
  const text = `The service does not answer: ${error.message}`;
  return element("div", { class: "answer" }, element("div", { class: "headline bad" }, element("strong", {}, text)));
}
