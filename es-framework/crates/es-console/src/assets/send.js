// Sends the command of the form to its own route, as every client does.

const sending = document.querySelector("form .sending");
const button = sending?.querySelector("button");
const token = sending?.querySelector("input");
const json = document.getElementById("json");
const form = sending?.closest("form");

// The idempotency key of a command that is perhaps done, and the trace id of its events. To send it again with
// the same key has no second effect.
let key;

function randomHex(size) {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(size)));
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function element(name, content, attributes = {}) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, value);
  }
  made.append(...[content].flat());
  return made;
}

function headline(text, isGood) {
  const mark = isGood ? "✓" : "✗";
  return element("h2", element("span", `${mark} ${text}`, { class: isGood ? "good" : "bad" }));
}

function show(...nodes) {
  const attributes = { id: "result", class: "card dry-run", tabindex: -1, "aria-label": "Result" };
  const section = element("section", nodes, attributes);
  document.getElementById("result")?.remove();
  document.getElementById("main").append(section);
  section.focus();
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function showReply(status, text) {
  const link = element("a", "Events of this command", { href: `/console?trace=${key}` });
  const nodes = [headline(`Done with status ${status}`, true), element("p", link)];
  if (text) {
    nodes.push(element("h2", "Reply"), element("pre", element("code", text), { tabindex: 0, dir: "ltr" }));
  }
  show(...nodes);
}

function showProblem(status, problem) {
  const errors = (problem?.errors ?? []).flatMap(({ pointer, message }) => [
    element("dt", element("code", pointer || "/")),
    element("dd", message),
  ]);
  // The detail of a single error repeats it, and many a detail repeats the title.
  const repeats = problem?.errors?.length === 1 || problem?.detail === problem?.title;
  const detail = repeats ? "" : ` ${problem?.detail ?? ""}`;
  const text = [element("strong", problem?.title ?? "The response is no problem"), detail];
  const facts = errors.length ? [element("dl", errors, { class: "facts" })] : [];
  show(headline(`Rejected with status ${status}`, false), element("p", text), ...facts);
}

async function send() {
  if (button.disabled) {
    return;
  }
  button.disabled = true;
  key ??= randomHex(16);
  const headers = {
    "Content-Type": "application/json",
    "Idempotency-Key": key,
    traceparent: `00-${key}-${randomHex(8)}-01`,
  };
  if (token?.value) {
    headers.Authorization = `Bearer ${token.value.trim()}`;
  }
  const options = { method: "POST", headers, body: json.value, signal: AbortSignal.timeout(60_000) };
  try {
    const response = await fetch(sending.dataset.path, options);
    const text = await response.text();
    if (response.ok) {
      showReply(response.status, text);
    } else {
      showProblem(response.status, parse(text));
    }
    // After an error of the server, the command may still be done.
    key = response.status < 500 ? undefined : key;
  } catch {
    const hint = "Nobody knows whether the command is done. Send it again: it is done once.";
    show(headline("The application does not answer", false), element("p", hint));
  } finally {
    button.disabled = false;
  }
}

if (sending) {
  sending.hidden = false;
  button.addEventListener("click", send);
  token?.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      send();
    }
  });
  // Another command needs another key.
  form.addEventListener("input", () => (key = undefined));
}
