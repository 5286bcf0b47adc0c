// Builds a request from the values of a form, and the same request as a curl command.

import { linesOf } from "./field.js";

// The id of the last event that a command of this page wrote. Queries wait for it.
let position;

export function lastPosition() {
  return position;
}

export function requestOf(operation, fields, token) {
  const headers = {};
  const query = [];
  let path = operation.path;
  for (const { field, place, several } of fields.parameters) {
    const text = field.text();
    if (place === "path") {
      path = path.replace(`{${field.name}}`, encodeURIComponent(text));
    } else if (text !== "" && place === "query") {
      const values = several ? linesOf(text) : [text.trim()];
      query.push(...values.map((value) => `${field.name}=${encodeURIComponent(value)}`));
    } else if (text !== "" && place === "header") {
      headers[field.name] = text;
    }
  }
  if (token) {
    headers.Authorization = `Bearer ${token}`;
  }
  const request = { method: operation.method.toUpperCase(), headers, path };
  if (query.length) {
    request.path += `?${query.join("&")}`;
  }
  if (fields.members) {
    headers["Content-Type"] = "application/json";
    const members = fields.members.map((field) => [field.name, field.value()]);
    request.body = JSON.stringify(Object.fromEntries(members.filter(([, value]) => value !== undefined)));
  }
  return request;
}

export async function send({ method, path, headers, body }) {
  const begin = performance.now();
  const answer = await fetch(path, { method, headers, body, cache: "no-store" });
  const text = await answer.text();
  const written = answer.headers.get("event-position");
  if (method !== "GET" && answer.ok && written !== null) {
    position = written;
  }
  return {
    status: answer.status,
    reason: answer.statusText,
    headers: answer.headers,
    type: answer.headers.get("content-type") ?? "",
    text,
    time: performance.now() - begin,
  };
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function asCurl({ method, path, headers, body }) {
  const parts = [`curl -i ${quoted(location.origin + path)}`];
  const shown = (name, value) => (name === "Authorization" ? "Bearer …" : value);
  for (const [name, value] of Object.entries(headers)) {
    parts.push(`-H ${quoted(`${name}: ${shown(name, value)}`)}`);
  }
  if (body !== undefined) {
    parts.push(`-d ${quoted(body)}`);
  } else if (method !== "GET") {
    parts.push(`-X ${method}`);
  }
  return parts.join(" \\\n  ");
}
