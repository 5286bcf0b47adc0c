// The page: a menu of operations, and the operation that the address names.

import { isOperatorRoute, load, operations, usesTokens } from "./description.js";
import { element } from "./dom.js";
import { page } from "./operation.js";

const main = document.getElementById("main");
const list = document.getElementById("operations");
const menu = document.getElementById("menu");
const token = document.getElementById("token");
const phone = matchMedia("(max-width: 48rem)");

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
  return tags.map((tag) => group(tag, all.filter((one) => (one.tags?.[0] ?? "") === tag)));
}

// Operator routes are collapsed until someone opens them.
function group(tag, members) {
  const links = element("ul", {}, ...members.map(link));
  const isCollapsible = members.some(isOperatorRoute);
  return isCollapsible
    ? element("details", { class: "group" }, element("summary", {}, element("h2", {}, tag)), links)
    : element("section", { class: "group" }, element("h2", {}, tag), links);
}

// On a phone the menu is collapsed: it would hide the form.
function fitMenu() {
  menu.open = !phone.matches;
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
      one.closest("details.group")?.setAttribute("open", "");
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
  addEventListener("hashchange", () => {
    fitMenu();
    showChosen(all, false);
  });
}

let tries = 0;

async function tryToBegin() {
  tries += 1;
  const mine = tries;
  try {
    await begin();
    token.removeEventListener("change", tryToBegin);
  } catch (error) {
    // Someone entered another token in the meantime.
    if (mine !== tries) {
      return;
    }
    access.hidden = !error.requiresToken;
    state.textContent = error.message;
    token.focus();
  }
}

phone.addEventListener("change", fitMenu);
fitMenu();
token.addEventListener("change", tryToBegin);
await tryToBegin();
