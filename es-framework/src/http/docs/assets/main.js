// The page: a list of operations, and the one that the address names.

import { load, operations, usesTokens } from "./description.js";
import { element } from "./dom.js";
import { page } from "./operation.js";

const main = document.getElementById("main");
const list = document.getElementById("operations");
const token = document.getElementById("token");

function link(operation) {
  return element(
    "li",
    {},
    element(
      "a",
      { href: `#${operation.operationId}` },
      element("span", { class: `method ${operation.method}` }, operation.method.toUpperCase()),
      element("span", { class: "path" }, operation.path),
    ),
  );
}

function groups(all) {
  const tags = [...new Set(all.map((operation) => operation.tags?.[0] ?? ""))];
  // What every service has comes last.
  const own = (tag) => (tag === "service" ? 1 : 0);
  tags.sort((one, other) => own(one) - own(other));
  return tags.map((tag) =>
    element(
      "section",
      {},
      element("h2", {}, tag),
      element("ul", {}, ...all.filter((one) => (one.tags?.[0] ?? "") === tag).map(link)),
    ),
  );
}

function showChosen(all, isFirst) {
  const name = decodeURIComponent(location.hash.slice(1));
  const chosen = all.find((operation) => operation.operationId === name) ?? all[0];
  if (!chosen) {
    main.replaceChildren(element("p", {}, "The service has no operations."));
    return;
  }
  for (const one of list.querySelectorAll("a")) {
    const isChosen = one.getAttribute("href") === `#${chosen.operationId}`;
    if (isChosen) {
      one.setAttribute("aria-current", "page");
    } else {
      one.removeAttribute("aria-current");
    }
  }
  main.replaceChildren(page(chosen, () => token.value.trim()));
  document.title = `${chosen.summary ?? chosen.operationId} · ${document.getElementById("title").textContent}`;
  if (!isFirst) {
    main.focus();
    scrollTo(0, 0);
  }
}

const state = document.getElementById("state");
const access = document.getElementById("access");

async function begin() {
  const description = await load(token.value.trim());
  const all = operations();
  document.getElementById("title").textContent = description.info.title;
  document.getElementById("version").textContent = `Version ${description.info.version}`;
  access.hidden = !usesTokens();
  list.replaceChildren(...groups(all));
  showChosen(all, true);
  addEventListener("hashchange", () => showChosen(all, false));
}

let tries = 0;

async function tryToBegin() {
  tries += 1;
  const mine = tries;
  try {
    await begin();
    token.removeEventListener("change", tryToBegin);
  } catch (error) {
    // Another token was entered meanwhile.
    if (mine !== tries) {
      return;
    }
    access.hidden = !error.asksWho;
    state.textContent = error.message;
    token.focus();
  }
}

token.addEventListener("change", tryToBegin);
await tryToBegin();
