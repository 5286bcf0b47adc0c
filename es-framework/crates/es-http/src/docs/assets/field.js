// One field of a form: its name, its type, its input and its error. The members of an object are fields of their own.

import { membersOf, valueSchema } from "./description.js";
import { element, prose } from "./dom.js";

// Objects below this depth are written as JSON, because a type can contain itself.
const MAX_DEPTH = 4;

let count = 0;

function newId() {
  // `crypto.randomUUID` exists only on secure origins.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function limits(schema) {
  const said = [];
  // The limits of 64-bit integers do not help a person.
  const isEnd = (number) => Math.abs(number) >= Number.MAX_SAFE_INTEGER;
  const known = (number) => number !== undefined && !isEnd(number);
  said.push(schema.format ?? (schema.enum ? "" : schema.type) ?? "");
  if (schema.type === "array" && isText(schema.items)) {
    said.push("one value in each line");
  }
  if (known(schema.minimum) && known(schema.maximum)) {
    said.push(`${schema.minimum} to ${schema.maximum}`);
  } else if (known(schema.minimum)) {
    said.push(`from ${schema.minimum}`);
  } else if (known(schema.maximum)) {
    said.push(`up to ${schema.maximum}`);
  }
  if (schema.maxLength) {
    said.push(`up to ${schema.maxLength} characters`);
  }
  if (schema.default !== undefined) {
    said.push(`${schema.default} by default`);
  }
  return said.filter(Boolean).join(", ");
}

function control(schema, id, described, example) {
  const shared = { id, "aria-describedby": described, autocomplete: "off", spellcheck: "false" };
  const choices = schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined);
  if (choices) {
    const options = choices.map((choice) => element("option", { value: String(choice) }, String(choice)));
    return element("select", shared, element("option", { value: "" }, "–"), ...options);
  }
  const isStructured = schema.type === "object" || (schema.type === "array" && !isText(schema.items));
  const isList = schema.type === "array" && !isStructured;
  const list = isList && Array.isArray(example) ? example.join("\n") : example;
  const text = isStructured && example !== undefined ? JSON.stringify(example, null, 2) : (list ?? "");
  if (isStructured || isList) {
    const area = element("textarea", { ...shared, rows: isList ? 2 : 4 });
    area.value = text;
    return area;
  }
  const numeric = schema.type === "integer" || schema.type === "number";
  const input = element("input", { ...shared, type: "text", inputmode: numeric ? "numeric" : "text" });
  input.value = text;
  return input;
}

function isText(schema) {
  return schema !== undefined && ["string", "integer", "number"].includes(valueSchema(schema).type);
}

// Returns the values of a list, which has one in each line: a value can contain commas.
export function linesOf(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

// Parses the input as JSON. Invalid JSON is sent as a string, and the service reports the error.
function read(text, schema) {
  if (schema.type === "string" || schema.enum) {
    return text;
  }
  if (schema.type === "array" && isText(schema.items)) {
    return linesOf(text).map((line) => read(line, valueSchema(schema.items)));
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function field(given, depth = 0) {
  const schema = valueSchema(given.schema);
  const isObject = schema.type === "object" && Object.keys(schema.properties ?? {}).length > 0;
  return isObject && depth < MAX_DEPTH ? objectField(given, schema, depth) : valueField(given, schema);
}

// The fields of an object. An optional object is left out if none of them has a value.
function objectField({ name, required, description, example }, schema, depth) {
  const values = example ?? schema.examples?.[0] ?? {};
  const fields = membersOf(schema).map((member) => field({ ...member, example: values[member.name] }, depth + 1));
  const error = element("p", { class: "error", hidden: true });
  const text = description ?? schema.description ?? "";
  const node = element(
    "fieldset",
    { tabindex: -1 },
    element("legend", {}, name, required ? undefined : element("span", { class: "muted" }, " optional")),
    text ? element("p", { class: "muted" }, ...prose(text)) : undefined,
    ...fields.map((one) => one.node),
    error,
  );
  const value = () => {
    const known = fields.map((one) => [one.name, one.value()]).filter(([, member]) => member !== undefined);
    return known.length > 0 || required ? Object.fromEntries(known) : undefined;
  };
  return {
    name,
    node,
    value,
    text: () => JSON.stringify(value()) ?? "",
    invalid: () => fields.map((one) => one.invalid()).find(Boolean) ?? (error.hidden ? undefined : node),
    complain(message, [member, ...rest] = []) {
      const found = fields.find((one) => one.name === member);
      if (!message) {
        fields.forEach((one) => one.complain());
      }
      found?.complain(message, rest);
      error.textContent = found ? "" : (message ?? "");
      error.hidden = !error.textContent;
    },
  };
}

function valueField({ name, required, description, example }, schema) {
  count += 1;
  const id = `field-${count}`;
  const described = `${id}-hint ${id}-error`;
  const input = control(schema, id, described, example ?? schema.examples?.[0]);
  const error = element("p", { class: "error", id: `${id}-error`, hidden: true });
  const button =
    schema.format === "uuid"
      ? element(
          "button",
          {
            type: "button",
            class: "quiet",
            "aria-label": `New ${name}`,
            onclick: () => {
              input.value = newId();
              input.focus();
            },
          },
          "New",
        )
      : undefined;
  const hint = [limits(schema), required ? "" : "optional"].filter(Boolean).join(", ");
  const text = description ?? schema.description ?? "";
  const node = element(
    "div",
    { class: "field" },
    element(
      "div",
      { class: "label" },
      element("label", { for: id }, name),
      element("span", { class: "muted", id: `${id}-hint` }, hint),
    ),
    element("div", { class: "input" }, input, button),
    text ? element("p", { class: "muted" }, ...prose(text)) : undefined,
    error,
  );
  return {
    name,
    node,
    invalid: () => (input.hasAttribute("aria-invalid") ? input : undefined),
    text: () => input.value,
    value: () => (input.value === "" ? undefined : read(input.value, schema)),
    complain(message) {
      error.textContent = message ?? "";
      error.hidden = !message;
      input.toggleAttribute("aria-invalid", Boolean(message));
      if (message) {
        input.closest("details")?.setAttribute("open", "");
      }
    },
  };
}
