// One operation: its description, its form and the answer of the service.

import { show, showFailure } from "./answer.js";
import { bodyOf, membersOf, parametersOf, resolve } from "./description.js";
import { element, prose } from "./dom.js";
import { field } from "./field.js";
import { asCurl, lastPosition, requestOf, send } from "./request.js";

// The parameters of every query that answers in pages.
const PAGING = ["limit", "cursor", "total"];

function parameterFields(operation) {
  return parametersOf(operation).map((parameter) => {
    const isPosition = parameter.name === "Event-Position";
    const schema = resolve(parameter.schema);
    const made = field({ ...parameter, schema, example: isPosition ? lastPosition() : undefined });
    return { field: made, place: parameter.in, several: schema.type === "array" };
  });
}

function memberFields(operation) {
  const body = bodyOf(operation);
  const example = body?.examples?.[0] ?? {};
  const member = ({ name, schema, required }) =>
    field({ name, schema, required, example: example[name], description: resolve(schema).description });
  return body && membersOf(body).map(member);
}

function heading(operation) {
  return element(
    "div",
    { class: "heading" },
    element("h1", {}, operation.summary ?? operation.operationId),
    element(
      "p",
      { class: "route" },
      element("span", { class: `method ${operation.method}` }, operation.method.toUpperCase()),
      element("code", {}, operation.path),
    ),
    ...(operation.description ?? "")
      .split("\n\n")
      .filter(Boolean)
      .map((text) => element("p", {}, ...prose(text))),
  );
}

// Lists every possible answer, for developers of clients.
function possibleAnswers(operation) {
  const lines = Object.entries(operation.responses ?? {}).map(([status, given]) => {
    const answer = resolve(given);
    return element("li", {}, element("code", {}, status), ` ${answer.description}`);
  });
  return element(
    "details",
    { class: "possible" },
    element("summary", {}, "Possible answers"),
    element("ul", {}, ...lines),
  );
}

// Shows each validation error at its field; returns the first invalid field.
function complain(fields, answer) {
  const all = [...(fields.members ?? []), ...fields.parameters.map((one) => one.field)];
  all.forEach((one) => one.complain());
  if (!answer?.type.includes("problem+json")) {
    return undefined;
  }
  const problem = JSON.parse(answer.text);
  for (const { pointer, message } of problem.errors ?? []) {
    const [name, ...rest] = pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    fields.members?.find((one) => one.name === name)?.complain(message, rest);
  }
  const said = /^the (?:parameter|header) (\S+) (.*)$/.exec(problem.detail ?? "");
  all.find((one) => one.name === said?.[1])?.complain(said?.[2]);
  return all.map((one) => one.invalid()).find(Boolean);
}

function curl(text) {
  const button = element("button", { type: "button", class: "quiet" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  });
  return element(
    "details",
    { class: "curl" },
    element("summary", {}, "The request as a command"),
    element("div", { class: "copied" }, element("pre", { tabindex: 0 }, element("code", {}, text)), button),
  );
}

function folded(summary, nodes) {
  return nodes.length ? element("details", {}, element("summary", {}, summary), ...nodes) : undefined;
}

function form(operation, fields) {
  const isPaging = (one) => one.place === "query" && PAGING.includes(one.field.name);
  const nodes = (chosen) => fields.parameters.filter(chosen).map((one) => one.field.node);
  const paging = nodes(isPaging);
  const headers = nodes((one) => one.place === "header");
  const others = nodes((one) => one.place !== "header" && !isPaging(one));
  const members = (fields.members ?? []).map((one) => one.node);
  const isEmpty = others.length + members.length + paging.length === 0;
  return element(
    "form",
    { novalidate: true, "aria-label": operation.operationId },
    isEmpty ? element("p", { class: "muted" }, "Takes no values.") : undefined,
    ...others,
    ...members,
    folded("Pages", paging),
    folded("Headers", headers),
    element("button", { type: "submit", class: "send" }, "Send"),
  );
}

export function page(operation, token) {
  const fields = { parameters: parameterFields(operation), members: memberFields(operation) };
  const hint = element("p", { class: "muted empty" }, "Send the form to see the answer of the service here.");
  const output = element("section", { class: "output", "aria-label": "Answer", "aria-live": "polite" }, hint);
  const made = form(operation, fields);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = made.querySelector(".send");
    button.disabled = true;
    const request = requestOf(operation, fields, token());
    try {
      const answer = await send(request);
      output.replaceChildren(show(answer, operation), curl(asCurl(request)));
      complain(fields, answer)?.focus();
    } catch (error) {
      output.replaceChildren(showFailure(error), curl(asCurl(request)));
    } finally {
      button.disabled = false;
    }
  });
  return element(
    "article",
    {},
    heading(operation),
    element("div", { class: `panes ${operation.method}` }, element("div", { class: "input-pane" }, made), output),
    possibleAnswers(operation),
  );
}
