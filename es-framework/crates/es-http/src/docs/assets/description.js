// The OpenAPI document of the service, in the form that the page needs.

let description = {};

export async function load(token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch("/openapi.json", { headers });
  if (answer.status === 401) {
    const message = token
      ? "The service does not know this token, or no longer accepts it."
      : "The service requires authentication: enter a token, and confirm it with Enter.";
    throw Object.assign(new Error(message), { requiresToken: true });
  }
  if (!answer.ok) {
    throw new Error(`The service answered /openapi.json with status ${answer.status}.`);
  }
  description = await answer.json();
  return description;
}

export function resolve(value) {
  let found = value;
  for (let depth = 0; found?.$ref && depth < 16; depth += 1) {
    found = found.$ref
      .slice(2)
      .split("/")
      .reduce((place, name) => place?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], description);
  }
  return found ?? {};
}

// Operator routes belong to the framework and exist in every service.
export function isOperatorRoute(operation) {
  return operation.tags?.[0] === "service";
}

// Sorts domain operations before operator routes. Among them, commands that create something come
// first, because the others need what these create; queries come last.
function rank(operation) {
  const kinds = [
    operation.method === "post" && "201" in (operation.responses ?? {}),
    operation.method === "post",
    true,
  ];
  return kinds.indexOf(true) + (isOperatorRoute(operation) ? kinds.length : 0);
}

export function operations() {
  const all = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  );
  return all.sort((one, other) => rank(one) - rank(other));
}

export function parametersOf(operation) {
  return (operation.parameters ?? []).map(resolve);
}

export function bodyOf(operation) {
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  return schema && resolve(schema);
}

// The schema without `null`, and without the choice of it.
export function valueSchema(schema) {
  const found = resolve(schema);
  const choices = (found.anyOf ?? []).map(resolve).filter((one) => one.type !== "null");
  const chosen = choices.length === 1 ? { ...choices[0], description: found.description } : found;
  const type = Array.isArray(chosen.type) ? chosen.type.find((one) => one !== "null") : chosen.type;
  return { ...chosen, type };
}

// Members in the order of their declaration, which is that of those that are required.
export function membersOf(schema) {
  const required = schema.required ?? [];
  const place = (name) => (required.includes(name) ? required.indexOf(name) : required.length);
  return Object.entries(schema.properties ?? {})
    .map(([name, value]) => ({ name, schema: value, required: required.includes(name) }))
    .sort((one, other) => place(one.name) - place(other.name));
}

export function usesTokens() {
  const schemes = Object.values(description.components?.securitySchemes ?? {});
  return schemes.some((scheme) => resolve(scheme).scheme === "bearer");
}
